"""The jobs behind ``docs/explanation/accuracy.md``, part by part.

The bare detector gets as many reference subsets as the fit of ``ODEFS()`` that it is compared with:
its jobs follow from records.
"""

from collections.abc import Callable, Sequence

from odefs.datasets.registry import BY_NAME
from odefs.experiments.accuracy.extra_datasets import SOURCES, file_of
from odefs.experiments.grid import Job, Record, job_of
from odefs.experiments.plans import LARGE

ELEVEN = tuple(name for name in BY_NAME if name != "speech")
MORE = tuple(map(file_of, SOURCES))

REPEATS = 10
MORE_REPEATS = {"optdigits": 20}
"""Its AUC varies most from seed to seed."""
FEW_REPEATS = 3

Options = tuple[tuple[str, str | int | float], ...]

NOISE_KEPT = "noise columns kept"

ABLATIONS: dict[str, Options] = {
    "scaling rootstd": (("scaling", "rootstd"),),
    "scaling minmax": (("scaling", "minmax"),),
    "columns unweighted": (("final_distance", "subset"),),
    "one round": (("n_rounds", 1),),
    NOISE_KEPT: (("noise_columns", "keep"),),
    "trust 0.5": (("trust", 0.5),),
    "trust 1": (("trust", 1.0),),
    "trust 0": (("trust", 0.0),),
}
"""Each part of ``ODEFS()`` replaced alone. A given trust also takes the measuring away, and all
members on all columns but one.
"""

RELEVANT = (5, 10, 20)
NOISE = (100, 300)
SAMPLED = {"census": 60_000}
"""Rows of datasets that are too large to be widened whole."""
RIVALS = ("RandFS", "DisFS", "RegFS", "CINFO", "IForest")
WIDEST = {"RegFS": 200}
"""It inverts a matrix of all columns."""

N_KNOWN = (0, 5, 20)


def main_jobs(records: Sequence[Record], repeats: int) -> list[Job]:
    """``ODEFS()`` and ``ODEFS.paper()``, the latter with fewer components where its own number is
    out of reach.
    """
    jobs = []
    for dataset in (*ELEVEN, *MORE):
        for seed in range(min(repeats, MORE_REPEATS.get(dataset, REPEATS))):
            jobs += [Job("ODEFS", dataset, seed), _paper(dataset, seed)]
    return jobs


def bare_jobs(records: Sequence[Record], repeats: int) -> list[Job]:
    """The bare detector beside each ``ODEFS()`` of the records."""
    return [
        bare_job(record) for record in records if "total_subsets" in record and is_default(record)
    ]


def bare_job(record: Record) -> Job:
    """The same scaling and the same number of reference subsets; metric and subset size are the
    same by default.
    """
    job = record["job"]
    options: Options = (
        ("n_subsets", record["total_subsets"]),
        ("scaling", record["parameters"]["scaling"]),
    )
    return Job(
        "LeSiNN", job["dataset"], job["seed"], options=options, content=job.get("content", "")
    )


def is_default(record: Record) -> bool:
    return record["job"]["method"] == "ODEFS" and not record["job"]["options"]


def ablation_jobs(records: Sequence[Record], repeats: int) -> list[Job]:
    return [
        Job("ODEFS", dataset, seed, options=options)
        for dataset in (*ELEVEN, *MORE)
        for seed in range(min(repeats, FEW_REPEATS))
        for options in ABLATIONS.values()
    ]


def noise_datasets() -> list[str]:
    """The paper's synthetic data, and the eleven with columns of uniform noise."""
    made = [f"shifted?n_rows=5000&n_columns=100&n_relevant={share}" for share in RELEVANT]
    rows = {name: f"&rows={number}" for name, number in SAMPLED.items()}
    return made + [
        f"{name}?noise={level}{rows.get(name, '')}" for level in NOISE for name in ELEVEN
    ]


def noise_jobs(records: Sequence[Record], repeats: int) -> list[Job]:
    jobs = []
    for dataset in noise_datasets():
        rivals = [name for name in RIVALS if _width(dataset) <= WIDEST.get(name, _width(dataset))]
        for seed in range(min(repeats, FEW_REPEATS)):
            jobs += [Job("ODEFS", dataset, seed), _paper(dataset, seed)]
            jobs.append(Job("ODEFS", dataset, seed, options=ABLATIONS[NOISE_KEPT]))
            jobs += [Job(name, dataset, seed) for name in rivals]
    return jobs


def agreement_jobs(records: Sequence[Record], repeats: int) -> list[Job]:
    """Whether rows on which components agree stay in the top k under another seed."""
    return [
        Job("agreement", dataset, seed)
        for dataset in ELEVEN
        for seed in range(min(repeats, FEW_REPEATS))
    ]


def known_jobs(records: Sequence[Record], repeats: int) -> list[Job]:
    """AUC on the remaining rows with some cases known."""
    return [
        Job("known", dataset, seed, options=(("n_known", number),))
        for dataset in ELEVEN
        for seed in range(min(repeats, FEW_REPEATS))
        for number in N_KNOWN
    ]


PARTS: dict[str, Callable[[Sequence[Record], int], list[Job]]] = {
    "main": main_jobs,
    "bare": bare_jobs,
    "ablation": ablation_jobs,
    "noise": noise_jobs,
    "noise bare": bare_jobs,
    "agreement": agreement_jobs,
    "known": known_jobs,
}
"""In this order: the jobs of a part may follow from the records of those before."""


def of_part(part: str, records: Sequence[Record]) -> list[Record]:
    """The records that belong to a part, failures aside."""
    wanted = {_without_content(job) for job in PARTS[part](records, max(MORE_REPEATS.values()))}
    return [
        record
        for record in records
        if "error" not in record and _without_content(job_of(record)) in wanted
    ]


def _without_content(job: Job) -> tuple[str, str, int, Options]:
    return job.method, job.dataset, job.seed, job.options


def _paper(dataset: str, seed: int) -> Job:
    cap = LARGE.get(dataset.partition("?")[0])
    return Job("ODEFS-paper", dataset, seed, options=(("n_estimators", cap[1]),) if cap else ())


def _width(dataset: str) -> int:
    """Columns of a widened dataset."""
    name, _, query = dataset.partition("?")
    settings = dict(part.split("=") for part in query.split("&"))
    return (
        int(settings["n_columns"])
        if name == "shifted"
        else BY_NAME[name].shape[1] * (100 + int(settings["noise"])) // 100
    )
