"""Options that name a column for uses that exclude each other, refused before anything is read."""

import click

from odefs.cli import options


def require_one_use(identifier: str | None, columns: options.Columns) -> None:
    """Reject columns with uses that exclude each other; ``identifier`` is that of ``--id``."""
    from odefs.tables.encoder.column_uses import excluded_use

    found = excluded_use({**columns.uses, "id": [identifier] if identifier else []})
    if found is not None:
        name, use, other = found
        raise click.UsageError(
            f"--{use} {name} and --{other} {name} are mutually exclusive: give only one of them."
        )
