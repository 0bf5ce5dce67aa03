"""Scoring with a saved model, as used by ``score``, ``explain`` and ``report``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odefs._progress import report_progress, stage

if TYPE_CHECKING:
    from odefs.tables.detection import TableDetection
    from odefs.tables.drift import ColumnDrift
    from odefs.tables.model_files import TableModel
    from odefs.tables.readers.open import Reading


@dataclass(frozen=True, eq=False)
class Scored:
    """The model, the file that was read, its detection, and its drift from training."""

    model: "TableModel"
    read: "Reading"
    found: "TableDetection"
    drift: list["ColumnDrift"]


@dataclass(frozen=True, eq=False)
class Opened:
    """A model, and the options for reading a file that follow from it."""

    model: "TableModel"
    text_columns: list[str]
    header: bool | None
    identifier: str | None

    def id_of(self, columns: list[str]) -> str | None:
        """The column that names the rows: the requested one, else that of training if present."""
        known = self.model.identifier
        return self.identifier or (known if known in columns else None)


def open_table_model(path: Path) -> "TableModel":
    """Load a model of a table; raise ModelFileError if there is none."""
    from odefs.exceptions import ModelFileError
    from odefs.tables.model_files import load_table_model

    if not path.is_file():
        raise ModelFileError(f"{path}: there is no such model file.")
    return load_table_model(path)


def open_model(path: Path, identifier: str | None, no_header: bool, jobs: int | None) -> Opened:
    """Load a model for scoring a file."""
    loaded = open_table_model(path)
    loaded.model.set_params(n_jobs=jobs)
    text = [spec.name for spec in loaded.encoder.specs_ if spec.kind == "category" or spec.style]
    text += [name for name in (identifier, loaded.identifier) if name]
    # None, not False, if training had no header: --no-header is an error for files other than text,
    # which such a model can score too.
    header = False if no_header else None if loaded.source.get("header") is False else True
    return Opened(loaded, text, header, identifier)


def score_file(
    path: Path,
    file: str,
    folder: Path | None = None,
    sheet: str | None = None,
    identifier: str | None = None,
    hide: tuple[str, ...] = (),
    jobs: int | None = None,
    delimiter: str | None = None,
    output: str | None = None,
    with_data: bool = False,
    no_header: bool = False,
    **flagging: Any,
) -> Scored:
    """Load the model, read the table and score it; in batches if a ``folder`` is given."""
    from odefs.cli.in_parts import named_errors
    from odefs.cli.outputs import require_room_for
    from odefs.cli.run import command_line, described
    from odefs.tables.detect import score_table
    from odefs.tables.notes import Provenance
    from odefs.tables.readers.open import ReadOptions, open_table

    opened = open_model(path, identifier, no_header, jobs)
    loaded = opened.model
    options = ReadOptions(sheet, opened.text_columns, delimiter, least_rows=1, header=opened.header)
    hidden = (*loaded.hidden, *hide)
    with named_errors(file, output):
        with stage("reading"):
            report_progress(0, 0)
            read = open_table(file, options, folder)
            require_room_for(output, read.table, with_data, hidden)
            read.table.require_columns(hide)
        identifier = opened.id_of(read.table.names)
        found, drift = score_table(
            read.table, loaded.model, loaded.encoder, id=identifier, hide=hidden, **flagging
        )
    run = Provenance.of_model(loaded.model, command_line())
    return Scored(loaded, read, described(found, read, run), drift)
