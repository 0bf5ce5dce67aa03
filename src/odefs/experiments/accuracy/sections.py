"""Sections of ``docs/explanation/accuracy.md`` that compare ``ODEFS()`` with its bare detector,
with the paper's version, and with itself without a part.
"""

from collections.abc import Sequence

import numpy as np

from odefs.datasets.registry import BY_NAME
from odefs.experiments.accuracy.measures import (
    BARE,
    DEFAULT,
    PAPER,
    by_seed,
    mean_over,
    named,
    paired_gain,
)
from odefs.experiments.accuracy.plan import (
    ABLATIONS,
    DETECT,
    ELEVEN,
    FEW_REPEATS,
    MIXED,
    MORE,
    SOURCES,
    Options,
    file_of,
    short,
)
from odefs.experiments.accuracy.value_frequencies import BASELINES
from odefs.experiments.grid import Record
from odefs.experiments.plans import LARGE
from odefs.experiments.summary import Cells, summarise
from odefs.experiments.tables import Table

FOLDERS = {"the paper's eleven": ELEVEN, "fourteen others": MORE}
STEADY = ("optdigits", "apascal")


def section(title: str, *parts: str) -> str:
    return "\n\n".join([f"## {title}", *(part for part in parts if part)])


def complete(
    records: Sequence[Record], datasets: Sequence[str], methods: Sequence[str]
) -> list[str]:
    """Return the datasets on which all of the methods were run."""
    found = {(r["job"]["method"], r["job"]["dataset"]) for r in records}
    return [name for name in datasets if all((method, name) in found for method in methods)]


def against_bare(records: Sequence[Record]) -> str:
    """Return the section on the gain over the bare detector, for both groups of datasets."""
    part = named(records)
    parts = []
    for folder, datasets in FOLDERS.items():
        known = complete(part, datasets, (DEFAULT, PAPER, BARE))
        if known:
            parts.append(f"On {folder}:\n\n{_gain_table(part, known).markdown()}")
    if not parts:
        return ""
    capped = ", ".join(f"{name} (at most {cap[1]} components)" for name, cap in LARGE.items())
    text = (
        "The bare detector is `ODEFS(trust=0)`: the same scaling, companions, distance and subset "
        "size, and the same total number of reference subsets as the fit of `ODEFS()` with the "
        "same seed, those of the components and of the members on all columns that contribute to "
        "the score. The gain is "
        "paired by seed, with its standard error; AUC with the standard deviation over the seeds. "
        f"p@k: ties by expectation. `ODEFS.paper()` is limited on {capped}."
    )
    if any(_counted(part, datasets) for datasets in FOLDERS.values()):
        text += (
            " `frequencies` and `pairs` add up -log of the share of rows with the row's value, "
            "over all columns and all pairs of columns; numbers of more than ten values are "
            "divided into ten bins of equal width."
        )
    return section("Comparison with the bare detector", text, *parts)


def _gain_table(records: Sequence[Record], datasets: Sequence[str]) -> Table:
    auc, pk = summarise(records, "auc"), summarise(records, "p@k")
    header = [
        "dataset",
        "seeds",
        f"{DEFAULT} AUC",
        "bare AUC",
        "gain",
        f"{PAPER} AUC",
        f"{DEFAULT} p@k",
        "bare p@k",
        f"{PAPER} p@k",
    ]
    counted = _counted(records, datasets)
    header += [f"{name} {measure}" for name in counted for measure in ("AUC", "p@k")]
    rows = []
    for name in datasets:
        gain = paired_gain(records, DEFAULT, BARE, name)
        assert gain is not None
        shown = f"{gain.mean:+.3f} ± {gain.error:.3f}" + (" (loses)" if gain.loses else "")
        row = [
            short(name),
            str(gain.repeats),
            _text(auc, DEFAULT, name),
            _text(auc, BARE, name),
            shown,
            _text(auc, PAPER, name),
        ]
        row += [f"{pk[method, name].mean:.3f}" for method in (DEFAULT, BARE, PAPER)]
        rows.append(row + _counted_cells(records, counted, [name]))
    means = {
        (m, k): mean_over(records, m, datasets, k)
        for m in (DEFAULT, BARE, PAPER)
        for k in ("auc", "p@k")
    }
    last = [
        f"mean of {len(datasets)}",
        "",
        f"{means[DEFAULT, 'auc']:.4f}",
        f"{means[BARE, 'auc']:.4f}",
    ]
    last += [f"{means[DEFAULT, 'auc'] - means[BARE, 'auc']:+.4f}", f"{means[PAPER, 'auc']:.4f}"]
    last += [f"{means[method, 'p@k']:.3f}" for method in (DEFAULT, BARE, PAPER)]
    rows.append(last + _counted_cells(records, counted, datasets))
    return Table("", header, rows)


def _counted(records: Sequence[Record], datasets: Sequence[str]) -> list[str]:
    """Return the baselines that count values and were run on any of the datasets."""
    return [name for name in BASELINES if any(complete(records, [d], [name]) for d in datasets)]


def _counted_cells(
    records: Sequence[Record], methods: Sequence[str], datasets: Sequence[str]
) -> list[str]:
    """Return AUC and p@k of baselines that count values; empty where one was not run."""
    values = [mean_over(records, m, datasets, k) for m in methods for k in ("auc", "p@k")]
    return ["" if np.isnan(value) else f"{value:.3f}" for value in values]


def _text(cells: Cells, method: str, dataset: str) -> str:
    cell = cells[method, dataset]
    return f"{cell.mean:.3f} ± {cell.std:.3f}"


def deviations(records: Sequence[Record]) -> dict[str, tuple[float, float, int]]:
    """Return the standard deviations of the AUC over the seeds, and the number of seeds, by
    dataset.

    The first is that of ``ODEFS()``, the second that of ``ODEFS.paper()``.
    """
    part = named(records)
    found = {}
    for name in complete(part, STEADY, (DEFAULT, PAPER)):
        values = [list(by_seed(part, method, name, "auc").values()) for method in (DEFAULT, PAPER)]
        if min(map(len, values)) > 1:
            found[name] = (
                float(np.std(values[0], ddof=1)),
                float(np.std(values[1], ddof=1)),
                min(map(len, values)),
            )
    return found


def steadiness(records: Sequence[Record]) -> str:
    found = deviations(records)
    if not found:
        return ""
    rows = [
        [name, str(n), f"{a:.4f}", f"{b:.4f}", f"{a / b:.2f}"] for name, (a, b, n) in found.items()
    ]
    return section(
        "Variation between seeds",
        "Standard deviation of the AUC over the seeds (n - 1). If subsets are not trusted, only "
        "the full space is scored, with enough members for a stable ranking; the remaining "
        "variation comes from the choice of reference rows.",
        Table("", ["dataset", "seeds", DEFAULT, PAPER, "ratio"], rows).markdown(),
    )


def ablation(records: Sequence[Record]) -> str:
    """Return the section on what each part adds, for both groups of datasets, and what it costs."""
    part = [record for record in named(records) if record["job"]["seed"] < FEW_REPEATS]
    names = [name for name in ABLATIONS if any(record["job"]["method"] == name for record in part)]
    parts = []
    for folder, datasets in FOLDERS.items():
        known = complete(part, datasets, (DEFAULT, *names))
        if known and names:
            table = _ablation_table(part, (DEFAULT, *names), known)
            parts.append(f"On {folder} ({len(known)} datasets):\n\n{table.markdown()}")
    if not parts:
        return ""
    return section(
        "Ablation",
        f"`ODEFS()` with one setting changed, {FEW_REPEATS} seeds. The change and the largest loss "
        "are relative to `ODEFS()` with the same seeds; time is relative to it too, the geometric "
        "mean over the datasets, within one run on one machine. With a given `trust` nothing is "
        "measured, and the full space has one member: its time is not comparable with that of "
        "`ODEFS()`.",
        _ablation_legend(names),
        *parts,
    )


def _ablation_table(
    records: Sequence[Record], names: Sequence[str], datasets: Sequence[str]
) -> Table:
    header = ["variant", "mean AUC", "change", "mean p@k", "change", "largest loss of AUC", "time"]
    return Table("", header, [_ablation_row(records, name, datasets) for name in names])


def _ablation_legend(names: Sequence[str]) -> str:
    return "\n".join(f"- {name}: `{_call(ABLATIONS[name])}`" for name in names)


def _call(options: Options) -> str:
    """The call that an option stands for; options of the selection are nested in it."""
    (name, value), *_ = options
    outer, _, inner = name.rpartition("__")
    argument = f"{inner}={value!r}"
    return f"ODEFS(selection=FeatureSelection({argument}))" if outer else f"ODEFS({argument})"


def _ablation_row(records: Sequence[Record], name: str, datasets: Sequence[str]) -> list[str]:
    auc, pk = (mean_over(records, name, datasets, measure) for measure in ("auc", "p@k"))
    if name == DEFAULT:
        return [f"`{DEFAULT}`", f"{auc:.4f}", "", f"{pk:.3f}", "", "", "1"]
    gains = {dataset: paired_gain(records, name, DEFAULT, dataset) for dataset in datasets}
    worst = min(datasets, key=lambda dataset: gain.mean if (gain := gains[dataset]) else 0.0)
    lost = gains[worst]
    assert lost is not None
    ratios = [
        mean_over(records, name, [d], "seconds") / mean_over(records, DEFAULT, [d], "seconds")
        for d in datasets
    ]
    return [
        name,
        f"{auc:.4f}",
        f"{auc - mean_over(records, DEFAULT, datasets, 'auc'):+.4f}",
        f"{pk:.3f}",
        f"{pk - mean_over(records, DEFAULT, datasets, 'p@k'):+.3f}",
        f"{lost.mean:+.3f} ({short(worst)})" if lost.mean < 0 else "none",
        f"{np.exp(np.mean(np.log(ratios))):.2f}",
    ]


def datasets_used(records: Sequence[Record]) -> str:
    """Return the section with names, shapes and sources of all datasets."""
    # Peers' records of tables have the width of the encoded matrix.
    found = {
        record["job"]["dataset"]: record
        for record in records
        if "n_rows" in record
        and (record["job"]["dataset"] not in MIXED or record["job"]["method"] == DETECT)
    }
    rows = []
    sources = {name: f"`odefs datasets get {name}`" for name in BY_NAME} | {
        file_of(k): v for k, v in SOURCES.items()
    }
    for name in (*ELEVEN, *MORE, *MIXED):
        if name in found:
            record = found[name]
            digest = record["job"].get("content", "")[:12]
            rows.append(
                [
                    short(name),
                    f"{record['n_rows']:,} x {record['n_columns']}",
                    f"{record['outlier_share']:.3f}",
                    sources.get(name, "public table"),
                    digest,
                ]
            )
    if not rows:
        return ""
    return section(
        "Datasets",
        "The fourteen that are not the paper's are not distributed with the project; their files, "
        "with arrays X and y, are searched for as `more/NAME.npz` in `$ODEFS_DATA`. Repositories "
        "are on GitHub; nominal columns are one-hot encoded. The tables with categories, most of "
        "them from UCI, are searched for as `mixed/NAME.csv` there (labels in the column `label`, "
        "missing cells empty). The last column is the beginning of the SHA-256 of the file.",
        Table("", ["dataset", "rows x columns", "outliers", "source", "sha256"], rows).markdown(),
    )
