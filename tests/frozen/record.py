"""The record: one run per line, in the order of the runs."""

import json
from pathlib import Path

RECORD = Path(__file__).parent / "record.jsonl"


def read_record():
    """Records by the names of the runs."""
    with RECORD.open(encoding="utf-8") as lines:
        return {record["name"]: record for record in map(json.loads, lines)}


def write_record(records):
    lines = [
        json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        for record in records.values()
    ]
    RECORD.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
