"""The paper's experiments as lists of jobs."""

from collections.abc import Callable, Sequence

from odefs.datasets.registry import BY_NAME
from odefs.experiments.competitor_variants import DATASETS, READINGS, reading_jobs
from odefs.experiments.grid import Job
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
