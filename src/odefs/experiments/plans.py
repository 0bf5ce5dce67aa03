"""The paper's experiments as lists of jobs, how often each is repeated, and their commands."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from odefs.datasets.registry import BY_NAME
from odefs.experiments.competitor_variants import DATASETS, READINGS, reading_jobs
from odefs.experiments.grid import Job, Record
from odefs.experiments.methods import SELF_PACING, TABLE1, TABLE2

REPEATS = 20

LARGE: dict[str, tuple[int, int]] = {"census": (3, 30)}
"""Datasets for which the paper's number of components takes too long: maximum number of repeats,
and of components.
"""

CAPPED = {"ODEFS-paper", "ODEFS*", "ODEFS-classic"}
RATIOS = range(1, 13)
SHARES = (1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
SIZES = (1000, 2000, 4000, 8000, 16_000, 32_000)
WIDTHS = (50, 100, 200, 400, 800, 1600)


def table_jobs(
    methods: Sequence[str], datasets: Sequence[str], repeats: int, protocol: str = "transductive"
) -> list[Job]:
    """Return every method on every dataset, small datasets first so that results appear early."""
    jobs = []
    for dataset in sorted(datasets, key=_size):
        most, cap = LARGE.get(dataset, (repeats, 0))
        for seed in range(min(repeats, most)):
            for method in methods:
                options = (("n_estimators", cap),) if cap and method in CAPPED else ()
                jobs.append(Job(method, dataset, seed, protocol, options))
    return jobs


def _size(dataset: str) -> int:
    entry = BY_NAME.get(dataset)
    return entry.shape[0] * entry.shape[1] if entry else 0


def theorem_jobs(repeats: int) -> list[Job]:
    """Return jobs for AUC and time against m/m*: 10,000 x 100, 20 relevant columns, m* = 32."""
    data = "shifted?n_rows=10000&n_columns=100&n_relevant=20"
    return [
        Job(
            "ODEFS-paper",
            data,
            seed,
            options=(("selection__n_outlier_examples", 32), ("selection__unlabeled_ratio", ratio)),
        )
        for seed in range(repeats)
        for ratio in RATIOS
    ]


def noise_jobs(methods: Sequence[str], repeats: int) -> list[Job]:
    """Return jobs for AUC against the share of relevant columns, 1 to 50 of 100.

    5,000 rows are our choice.
    """
    return [
        Job(method, f"shifted?n_rows=5000&n_columns=100&n_relevant={share}", seed)
        for seed in range(repeats)
        for share in SHARES
        for method in methods
    ]


def scalability_jobs(methods: Sequence[str], repeats: int) -> list[Job]:
    """Return jobs for time against n at d = 100, and against d at n = 1000."""
    data = [f"shifted?n_rows={n}&n_columns=100&n_relevant=20" for n in SIZES]
    data += [f"shifted?n_rows=1000&n_columns={d}&n_relevant={d // 5}" for d in WIDTHS]
    return [
        Job(method, name, seed) for seed in range(repeats) for name in data for method in methods
    ]


ALL = tuple(BY_NAME)

METHODS: dict[str, tuple[str, ...]] = {
    "table1": TABLE1,
    "table2": TABLE2,
    "selfpaced": SELF_PACING,
    "competitors": tuple(READINGS),
    "theorem": ("ODEFS-paper",),
    "noise": ("LeSiNN", *TABLE2),
    "scalability": ("LeSiNN", *TABLE2),
}
"""Methods of each experiment unless others are given."""

SYNTHETIC_ONLY = {"theorem", "noise", "scalability"}
"""Experiments that generate their own data."""

OWN_METHODS = {"theorem", "competitors"}
"""Experiments that are about certain methods and accept no others."""


def _tables(experiment: str) -> Callable[[Sequence[str], Sequence[str], int, str], list[Job]]:
    return lambda methods, data, repeats, protocol: table_jobs(
        methods or METHODS[experiment], data or ALL, repeats, protocol
    )


EXPERIMENTS: dict[str, Callable[[Sequence[str], Sequence[str], int, str], list[Job]]] = {
    "table1": _tables("table1"),
    "table2": _tables("table2"),
    "selfpaced": _tables("selfpaced"),
    "competitors": lambda methods, data, repeats, protocol: reading_jobs(
        data or DATASETS, repeats, protocol
    ),
    "theorem": lambda methods, data, repeats, protocol: theorem_jobs(repeats),
    "noise": lambda methods, data, repeats, protocol: noise_jobs(
        methods or METHODS["noise"], repeats
    ),
    "scalability": lambda methods, data, repeats, protocol: scalability_jobs(
        methods or METHODS["scalability"], repeats
    ),
}


# No public copy was found (datasets/registry.py), so commands on all datasets do not include it.
NOT_TO_BE_HAD = {"speech"}

Range = tuple[int, int]


def counts(records: Sequence[Record]) -> dict[str, Range]:
    """Return the fewest and the most repeats of any method by dataset, without failures.

    Datasets are in the paper's order.
    """
    seeds: dict[tuple[str, str], dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for record in records:
        if "error" not in record:
            job = record["job"]
            seeds[job["dataset"], job["method"]][str(job["options"])].add(job["seed"])
    found: dict[str, list[int]] = defaultdict(list)
    for (dataset, _), by_options in seeds.items():
        found[dataset] += map(len, by_options.values())
    known = [name for name in BY_NAME if name in found]
    return {
        name: (min(found[name]), max(found[name]))
        for name in [*known, *sorted(set(found) - set(known))]
    }


def repeats_sentence(records: Sequence[Record]) -> str:
    """Return a sentence with the usual number of repeats, then the datasets with another number."""
    by_dataset = counts(records)
    ranges = list(by_dataset.values())
    if not ranges:
        return "No repeats."
    usual = max(ranges, key=lambda pair: (ranges.count(pair), pair))
    if not set(by_dataset) & set(BY_NAME):
        usual = min(low for low, _ in ranges), max(high for _, high in ranges)
        by_dataset = {}
    others = [f"{name} {_words(pair)}" for name, pair in by_dataset.items() if pair != usual]
    return f"Repeats: {'; '.join([_words(usual), *others])}."


def _words(pair: Range) -> str:
    low, high = pair
    return str(low) if low == high else f"{low} to {high}"


def commands(experiment: str, records: Sequence[Record], *flags: str) -> str:
    """Return one command per number of repeats.

    Datasets are named unless the command covers all available ones.
    """
    most = {name: high for name, (_, high) in counts(records).items()}
    if experiment in SYNTHETIC_ONLY:
        return _line(experiment, flags, [], max(most.values(), default=REPEATS))
    usual = max((number for name, number in most.items() if name not in LARGE), default=REPEATS)
    groups: dict[int, list[str]] = defaultdict(list)
    for name, number in most.items():
        # A large dataset with all its repeats gets them from the same command as the others.
        groups[max(usual, number) if number == LARGE.get(name, (0,))[0] else number].append(name)
    every = set(BY_NAME) - NOT_TO_BE_HAD
    return "\n".join(
        _line(experiment, flags, [] if every <= set(names) else names, number)
        for number, names in sorted(groups.items(), reverse=True)
    )


def _line(experiment: str, flags: Sequence[str], datasets: Sequence[str], repeats: int) -> str:
    named = [f"--datasets {','.join(datasets)}"] if datasets else []
    number = [f"--repeats {repeats}"] if repeats != REPEATS else []
    return " ".join(["odefs reproduce", experiment, *flags, *named, *number, "-o results"])
