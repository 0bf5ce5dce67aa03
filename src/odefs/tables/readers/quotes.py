"""Error messages of libraries, shortened so that they can be part of a sentence."""

LONGEST_QUOTE = 400


def first_line(error: Exception) -> str:
    """Return the first line of a message, which leaves out advice on the library's parameters."""
    said = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")
    return said if len(said) <= LONGEST_QUOTE else f"{said[:LONGEST_QUOTE]} ..."
