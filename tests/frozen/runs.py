"""Recorded runs as data.

A run of the command has input files (``tables.FILES``), steps and modes; a run in Python has a
function of ``calls.CALLS``. Covered, in memory and in parts (``ODEFS_IN_PARTS=1``) unless noted:

- reading: csv in UTF-8 with and without byte order mark, Windows text, UTF-16, gzip, semicolons
  with decimal commas, short lines, no header (named or not), duplicate and empty names, quoted
  line breaks, codes with leading zeros; tsv, bars in a ``.dat`` file, parquet, dictionaries,
  unsigned ids, decimals, nanoseconds, a folder and a glob of parts of different types, arrow,
  feather, ndjson, xlsx with ``--sheet``, standard input (memory);
- detect: --id, --keep, --hide, --known, --label, both, --category, --na, --number, --drop, --flag,
  --contamination, --threshold, --top, --profile, --set, --seed, --report, the bundled example;
- output: csv, tsv, ndjson, arrow, xlsx, --with-data, --reasons all, --raw, --excel;
- score: a similar table, the training table, --id, --hide, --threshold, --contamination, drift
  with --max-flagged (exit code 3), parts as one table, a table that lacks a column, a folder to a
  folder, twice;
- explain (memory): top-ranked rows, by number, by id, a range; report (memory): json and md;
- rejected: no such file, unreadable files, no rows, one row, no columns, wrong and contradictory
  options, wrong models, existing files;
- Python: every engine on one matrix, float32, missing cells, known cases, LeSiNN, the paper's
  settings, both other detectors, sparse input, solvers, the selector, ``odefs.detect`` on all kinds
  of frames, saved and loaded pipelines, scores in batches, reasons.
"""

from dataclasses import dataclass

from .calls import CALLS

BOTH, MEMORY = ("memory", "parts"), ("memory",)
OUT = "--json -o scores.parquet"


@dataclass(frozen=True)
class Run:
    """One run. Runs of a ``group`` differ only in mode or engine, and have the same scores."""

    name: str
    group: str
    mode: str
    files: str | None = None
    steps: tuple[str, ...] = ()
    stdin: str | None = None
    call: str | None = None


def _command(name, files, *steps, modes=BOTH, stdin=None):
    return [Run(f"{name} [{mode}]", name, mode, files, steps, stdin) for mode in modes]


def _detect(name, files, options="", file="table.csv", modes=BOTH):
    return _command(name, files, f"detect {file} {OUT} {options}".strip(), modes=modes)


SAVE = "detect table.csv --json --save model.odefs"


def _refused(name, *steps, modes=MEMORY):
    return _command(f"refused {name}", "broken_files", *steps, modes=modes)


READING = [
    *_detect("csv utf-8", "plain_csv"),
    *_detect("csv with bom", "bom_csv"),
    *_detect("csv cp1252", "cp1252_csv"),
    *_detect("csv utf-16", "utf16_csv"),
    *_detect("csv gz", "gz_csv", file="table.csv.gz"),
    *_detect("csv decimal comma", "comma_csv"),
    *_detect("csv ragged", "ragged_csv"),
    *_detect("csv no header", "no_header_csv", "--no-header"),
    *_detect("csv header is data", "no_header_csv"),
    *_detect("csv duplicate names", "duplicate_csv"),
    *_detect("csv quoted newlines", "newline_csv"),
    *_detect("csv codes", "codes_csv"),
    *_detect("tsv", "plain_tsv", file="table.tsv"),
    *_detect("dat with bars", "bar_dat", "--delimiter '|'", file="table.dat"),
    *_detect("parquet", "plain_parquet", file="table.parquet"),
    *_detect("parquet dictionary", "dictionary_parquet", file="table.parquet"),
    *_detect("parquet uint64", "uint64_parquet", "--id id", file="table.parquet"),
    *_detect("parquet decimal128", "decimal_parquet", file="table.parquet"),
    *_detect("parquet nanoseconds", "ns_parquet", file="table.parquet"),
    *_detect("folder of parts", "mixed_parts", file="parts"),
    *_detect("glob of parts", "mixed_parts", "--id id", file="'parts/part-[01].parquet'"),
    *_detect("arrow", "plain_arrow", file="table.arrow"),
    *_detect("feather", "plain_feather", file="table.feather"),
    *_detect("ndjson", "plain_ndjson", file="table.ndjson"),
    *_detect("xlsx", "plain_xlsx", "--sheet data", file="table.xlsx"),
    *_command("standard input", "plain_csv", f"detect - {OUT}", modes=MEMORY, stdin="table.csv"),
]

OPTIONS = [
    *_command("example", None, f"detect {OUT}"),
    *_detect("id", "plain_csv", "--id id"),
    *_detect("keep", "plain_csv", "--keep id"),
    *_detect("hide", "plain_csv", "--hide shop --hide price --report page.json"),
    *_detect("known", "label_csv", "--known known --drop fraud"),
    *_detect("label", "label_csv", "--label fraud --drop known"),
    *_detect("known and label", "label_csv", "--known known --label fraud"),
    *_detect("category", "codes_csv", "--category region --category quantity"),
    *_detect("na", "codes_csv", "--na 999 --na Oslo"),
    *_detect("number and drop", "codes_csv", "--number zip --drop price --drop comment"),
    *_detect("flag", "plain_csv", "--flag 5"),
    *_detect("contamination", "plain_csv", "--contamination 0.1 --seed 7"),
    *_detect("threshold", "plain_csv", "--threshold 1.3"),
    *_command("top on the screen", "plain_csv", "detect table.csv --top 3 --id id --no-report"),
    *_detect(
        "paper", "plain_csv", "--profile paper --set n_estimators=4 --set selection__tol=1e-3"
    ),
    *_detect("iforest", "plain_csv", "--set detector=iforest"),
    *_detect("tails", "plain_csv", "--set detector=tails"),
]

OUTPUT = [
    *_command(
        "csv out",
        "formula_csv",
        "detect table.csv --json -o scores.csv --with-data --reasons all --id id",
    ),
    *_command(
        "csv out raw",
        "formula_csv",
        "detect table.csv --json -o scores.csv --with-data --raw --id text",
    ),
    *_command(
        "csv out for excel",
        "formula_csv",
        "detect table.csv --json -o scores.csv --excel --reasons none",
    ),
    *_command("csv to the screen", "plain_csv", "detect table.csv -o - --no-report --quiet"),
    *_command("tsv out", "plain_csv", "detect table.csv --json -o scores.tsv"),
    *_command(
        "ndjson out", "plain_parquet", "detect table.parquet --json -o scores.ndjson --with-data"
    ),
    *_command(
        "arrow out",
        "plain_parquet",
        "detect table.parquet --json -o scores.arrow --with-data --hide shop",
    ),
    *_command(
        "xlsx out", "plain_parquet", "detect table.parquet --json -o scores.xlsx --with-data"
    ),
]

SCORING = [
    *_command(
        "score",
        "csv_and_others",
        SAVE,
        f"score model.odefs other.csv {OUT}",
        f"score model.odefs table.csv {OUT} --force",
        f"score model.odefs other.csv {OUT} --force --threshold 1.2 --max-flagged 0.9",
        f"score model.odefs other.csv {OUT} --force --contamination 0.1 --drop price",
        f"score model.odefs other.csv {OUT} --force --contamination 0.1",
        f"score model.odefs drifted.csv {OUT} --force --max-flagged 2x",
        f"score model.odefs parts {OUT} --force",
        "score model.odefs drifted.csv --top 2",
        "score model.odefs lacking.csv --json",
    ),
    *_command(
        "score by id",
        "csv_and_others",
        f"{SAVE} --id id",
        f"score model.odefs other.parquet {OUT} --hide shop",
        *["score model.odefs parts -o out --json"] * 2,
        "score model.odefs parts -o out --json --threshold 1.2",
    ),
    *_command(
        "explain and report",
        "csv_and_others",
        SAVE,
        "explain model.odefs other.csv --json --top 4",
        "explain model.odefs other.csv --json --rows 3,17,20-22",
        "explain model.odefs other.csv --json --rows 900",
        "report model.odefs other.csv -o page.json --flag 4",
        "report model.odefs other.csv -o page.md",
        modes=MEMORY,
    ),
    *_command(
        "explain by id",
        "csv_and_others",
        f"{SAVE} --id id",
        "explain model.odefs other.csv --json --rows 5009,5030-5036 --hide price",
        "explain model.odefs other.csv --rows 5009",
        modes=MEMORY,
    ),
]

REFUSED = [
    *_refused("no such file", "detect gone.csv --json", modes=BOTH),
    *_refused("garbage", "detect garbage.parquet --json", modes=BOTH),
    *_refused("cut gz", "detect cut.csv.gz --json", modes=BOTH),
    *_refused("no rows", "detect header.csv --json", modes=BOTH),
    *_refused("empty", "detect empty.csv --json", modes=BOTH),
    *_refused("one row", "detect one.csv --json", modes=BOTH),
    *_refused("long line", "detect long.csv --json", modes=BOTH),
    *_refused("open quote", "detect quote.csv --json", modes=BOTH),
    *_refused("constant", "detect constant.csv --json", modes=BOTH),
    *_refused("known word", "detect known.csv --known known --json", modes=BOTH),
    *_refused("text and numbers", "detect parts --json", modes=BOTH),
    *_refused("folder of nothing", "detect nothing --json"),
    *_refused("unknown option", "detect good.csv --flagg 3 --json"),
    *_refused("two thresholds", "detect good.csv --flag 3 --threshold 2 --json"),
    *_refused("large share", "detect good.csv --contamination 0.7 --json"),
    *_refused("unknown parameter", "detect good.csv --set n_trees=3 --json"),
    *_refused(
        "unknown columns",
        *[f"detect good.csv --{o} nowhere --json" for o in ("id", "hide", "label", "keep")],
    ),
    *_refused("no model", "score gone.odefs good.csv --json", "score model.odefs good.csv --json"),
    *_refused("file exists", "detect good.csv -o known.csv --json"),
    *_refused("unknown ending", "detect good.csv -o scores.doc --json"),
]

PYTHON = [
    Run(f"python {name}", f"python {call.group}", "call", call=name) for name, call in CALLS.items()
]

RUNS = {run.name: run for run in [*READING, *OPTIONS, *OUTPUT, *SCORING, *REFUSED, *PYTHON]}
