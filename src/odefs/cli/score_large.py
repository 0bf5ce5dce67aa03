"""``odefs score`` where the file would not fit into memory: the same scores from passes over the file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from odefs._progress import stage, tell
from odefs.cli.in_parts import named_errors
from odefs.cli.scoring import Scored, open_model

if TYPE_CHECKING:
    from odefs.tables.drift import ColumnDrift


def score_large_file(path: Path, file: str, folder: Path, chosen: dict[str, Any]) -> tuple[Scored, list["ColumnDrift"]]:
    """Load the model, score the table batch by batch, and say how it differs from the training table; ``folder`` is for what lies in files meanwhile."""
    from odefs.cli.run import command_line, described, require_columns
    from odefs.tables.provenance import Provenance

    opened = open_model(path, chosen["identifier"], chosen["no_header"], chosen["jobs"])
    loaded, hide = opened.model, chosen["hide"]
    with named_errors(file):
        from odefs.tables.large_scoring import score_large
        from odefs.tables.readers.large_reading import read_large

        with stage("reading"):
            tell(0, 0)
            form = {"sheet": chosen["sheet"], "delimiter": chosen["delimiter"], "header": opened.header}
            read = read_large(file, folder, text_columns=opened.text_columns, least_rows=1, **form)
            require_columns(read, hide)
        found, drift = score_large(
            read.table,
            loaded.model,
            loaded.encoder,
            id=opened.id_of(read.columns),
            hide=(*loaded.hidden, *hide),
            **{name: chosen[name] for name in ("contamination", "threshold", "flag", "top")},
        )
    return Scored(loaded, read, described(found, read, Provenance.of_model(loaded.model, command_line()))), drift
