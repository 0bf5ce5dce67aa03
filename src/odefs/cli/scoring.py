"""A table under a saved model: what ``score``, ``explain`` and ``report`` have in common."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odefs._progress import stage, tell

if TYPE_CHECKING:
    from odefs.tables.detection import Detection
    from odefs.tables.files import TableModel
    from odefs.tables.read import Reading


@dataclass(frozen=True, eq=False)
class Scored:
    """The model, the file as it was read, and what was found in it."""

    model: "TableModel"
    read: "Reading"
    found: "Detection"


def score_file(
    path: Path,
    file: str,
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
    """Load the model, read the table, score it."""
    from odefs.cli.targets import require_room_for
    from odefs.cli.work import command_line, described, require_columns
    from odefs.tables.columns import TableError
    from odefs.tables.detection import score
    from odefs.tables.files import load_table_model
    from odefs.tables.read import read_table
    from odefs.tables.record import run_record

    if not path.is_file():
        raise TableError(f"{path}: there is no such model file.")
    loaded = load_table_model(path)
    loaded.model.set_params(n_jobs=jobs)
    text = [spec.name for spec in loaded.encoder.specs_ if spec.kind == "category" or spec.style]
    text += [name for name in (identifier, loaded.identifier) if name]
    # A model that was made of a table without a header takes such tables, and says nothing about files of other kinds.
    header = False if no_header else None if loaded.source.get("header") is False else True
    with stage("reading"):
        tell(0, 0)
        read = read_table(file, sheet, text, delimiter, least_rows=1, header=header)
    require_room_for(output, read, with_data, (*loaded.hidden, *hide))
    named = identifier or (loaded.identifier if loaded.identifier in read.frame.columns else None)
    try:
        require_columns(read, hide)
        found = score(read.frame, loaded.model, loaded.encoder, id=named, hide=(*loaded.hidden, *hide), **flagging)
    except ValueError as error:
        raise TableError(f"{file}: {error}") from error
    return Scored(loaded, read, described(found, read, run_record(loaded.model, command_line())))
