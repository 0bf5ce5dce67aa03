"""Content of a file of scores: columns and types, scores, flags, first cells, and reasons."""

import csv
import io
import json
from pathlib import Path

import numpy as np

from .facts import digest, exact, plain

COMPUTED = ("score", "rank", "agreement", "reasons")
HEAD = 4


def output_facts(path):
    """Facts, sentences and the digest of the scores; for a folder, those of its files in order."""
    path = Path(path)
    if path.is_dir():
        columns = [_columns(file) for file in sorted(path.glob("*.parquet"))]
        names = list(columns[0])
        joined = {
            name: (columns[0][name][0], [v for part in columns for v in part[name][1]])
            for name in names
        }
        facts, sentences, bits = facts_of_columns(joined)
        return facts | {"files": sorted(file.name for file in path.iterdir())}, sentences, bits
    return facts_of_columns(_columns(path))


def text_facts(text, delimiter=","):
    """The same of a table that was written to standard output."""
    return facts_of_columns(_text(text, delimiter))


def facts_of_columns(columns):
    scores = np.array([float(score) for score in columns["score"][1]])
    flagged = [
        k + 1 for k, flag in enumerate(columns["outlier"][1]) if flag in (True, "yes", "true")
    ]
    facts = {
        "columns": {name: kind for name, (kind, _) in columns.items()},
        "order": list(columns),
        "scores": scores,
        "flagged": flagged,
        "head": {
            name: exact(values[:HEAD])
            for name, (_, values) in columns.items()
            if name not in COMPUTED
        },
    }
    reasons = columns.get("reasons", ("", []))[1]
    said = {str(k + 1): text for k, text in enumerate(reasons) if text and k + 1 in flagged}
    return plain(facts), plain({"reasons": said}), digest(scores)


def _columns(path):
    """Columns by name: type and values."""
    if path.suffix in (".csv", ".tsv"):
        return _text(path.read_bytes().decode("utf-8"), "\t" if path.suffix == ".tsv" else ",")
    if path.suffix == ".ndjson":
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return {name: ("json", [row[name] for row in rows]) for name in rows[0]}
    if path.suffix == ".xlsx":
        import polars as pl

        frame = pl.read_excel(path)
        return {column.name: (str(column.dtype), column.to_list()) for column in frame}
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_file(path).read_all()
    return {
        name: (str(table.schema.field(name).type), table[name].to_pylist())
        for name in table.column_names
    }


def _text(text, delimiter):
    names, *rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    return {name: ("text", [row[k] for row in rows]) for k, name in enumerate(names)}
