"""Error messages of libraries, shortened so that they can be part of a sentence."""

LONGEST_QUOTE = 400


def first_line(error: Exception) -> str:
    """Return the first line of a message, which leaves out advice on the library's parameters."""
    message = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")
    return message if len(message) <= LONGEST_QUOTE else f"{message[:LONGEST_QUOTE]} ..."


def damaged(error: Exception) -> str:
    """Return that a workbook cannot be read, and what helps."""
    return (
        f"this cannot be read as a workbook ({first_line(error)}): save it again in a spreadsheet "
        "program, or rename it if its suffix does not fit its content."
    )


def unreadable(name: object, error: Exception) -> str:
    """Return that a library cannot read a file, in one sentence, and what helps."""
    # Libraries report in several sentences.
    reason = first_line(error).replace(". ", "; ")
    return (
        f"{name}: cannot be read ({reason}): save or download it again, or rename it if its "
        "suffix does not fit its content."
    )
