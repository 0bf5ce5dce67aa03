"""What libraries say of a file that they cannot read, as part of a sentence of ours."""

LONGEST_QUOTE = 400


def first_line(error: Exception) -> str:
    """What a reader says, without its advice on its own parameters; cells that it quotes may be long."""
    said = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")
    return said if len(said) <= LONGEST_QUOTE else f"{said[:LONGEST_QUOTE]} ..."
