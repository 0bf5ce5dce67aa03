"""Jobs behind ``docs/explanation/accuracy.md``, part by part.

The bare detector gets as many reference subsets as the fit of ``ODEFS()`` that it is compared with,
so its jobs are derived from records. Fourteen public datasets are not the paper's and are not
distributed with the project: files are searched for as ``more/NAME.npz`` (arrays X and y) in the
dataset folders, and records contain the SHA-256 of the file. Neither are twelve public tables with
categories, ``mixed/NAME.csv`` with the labels in the column ``label``.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from odefs.datasets.registry import BY_NAME
from odefs.experiments.accuracy.value_frequencies import BASELINES
from odefs.experiments.grid import Job, Record, job_of
from odefs.experiments.method_versions import version_of
from odefs.experiments.peers import peers
from odefs.experiments.plans import LARGE

ADBENCH = "Minqi824/ADBench, adbench/datasets"
PANG = "GuansongPang/ADRepository-Anomaly-detection-datasets"
YUAN = "BELLoney/Outlier-detection, Nominal"
UCR = "UCR archive; iwuqing/Time-Series-Classification-based-on-KNN, data"

SOURCES: dict[str, str] = {
    "svhn_9": f"{ADBENCH}/CV_by_ResNet18/SVHN_9.npz",
    "mvtec_hazelnut": f"{ADBENCH}/CV_by_ResNet18/MVTec-AD_hazelnut.npz",
    "mvtec_transistor_vit": f"{ADBENCH}/CV_by_ViT/MVTec-AD_transistor.npz",
    "wafer": f"{UCR}/Wafer/Wafer_TRAIN.tsv",
    "connect4": f"{YUAN}/trandata/connect_4_draw_1247_variant1.mat, one-hot",
    "mushroom": f"{YUAN}/original/mushroom_p_221_variant1ori.csv, one-hot",
    "covertype": f"{PANG}, categorical data/covertype_nominal_4vs123567.tar.xz",
    "solar_flare": f"{PANG}, categorical data/solar-flare_FvsAll-cleaned.arff, one-hot",
    "chess": f"{PANG}, categorical data/chess_krkopt_zerovsall.arff, one-hot",
    "aloi": f"{ADBENCH}/Classical/1_ALOI.npz",
    "annthyroid": f"{PANG}, numerical data/DevNet datasets/annthyroid_21feat_normalised.csv",
    "pendigits": f"{ADBENCH}/Classical/28_pendigits.npz",
    "shuttle": f"{ADBENCH}/Classical/32_shuttle.npz",
    "mammography": f"{ADBENCH}/Classical/23_mammography.npz",
}


def file_of(name: str) -> str:
    """Return the name of the dataset in the grid."""
    return f"more/{name}.npz"


def short(dataset: str) -> str:
    """Return the name of the dataset on a page."""
    return dataset.rpartition("/")[2].removesuffix(".npz").removesuffix(".csv")


ELEVEN = tuple(name for name in BY_NAME if name != "speech")
MORE = tuple(map(file_of, SOURCES))
MIXED = tuple(
    f"mixed/{name}.csv"
    for name in (
        "audiology",
        "chess_nowin_145",
        "monks_0_12",
        "nursery",
        "vote_republican_29",
        "abalone",
        "annealing",
        "bands_band_27",
        "german_1_14",
        "heart270_2_16",
        "seismic",
        "sick_sick_72",
    )
)
"""Tables with categories: five without numbers first, then seven with both."""
DETECT = "odefs.detect"
DETECT_BARE = "odefs.detect, trust 0"
MIXED_METHODS = (DETECT, DETECT_BARE, *BASELINES, *peers())
OURS = ("ODEFS", "ODEFS-paper", "agreement", "known", DETECT, DETECT_BARE)
"""Methods whose results depend on the version of the library's methods."""

REPEATS = 10
MORE_REPEATS = {"optdigits": 20}
"""Its AUC varies most between seeds."""
FEW_REPEATS = 3

Options = tuple[tuple[str, str | int | float], ...]

NOISE_KEPT = "noise columns kept"

ABLATIONS: dict[str, Options] = {
    "scaling rootstd": (("scaling", "rootstd"),),
    "scaling minmax": (("scaling", "minmax"),),
    "columns unweighted": (("selection__column_weights", "equal"),),
    "one round": (("selection__n_rounds", 1),),
    NOISE_KEPT: (("noise_columns", "keep"),),
    "trust 0.5": (("trust", 0.5),),
    "trust 1": (("trust", 1.0),),
    "trust 0": (("trust", 0.0),),
}
"""Variants of ``ODEFS()`` with one part replaced. A given trust also turns off its measurement, and
all all-column members but one.
"""

RELEVANT = (5, 10, 20)
NOISE = (100, 300)
SAMPLED = {"census": 60_000}
"""Numbers of sampled rows for datasets that are too large to be widened as a whole."""
RIVALS = ("RandFS", "DisFS", "RegFS", "CINFO", "IForest")
WIDEST = {"RegFS": 200}
"""Maximum number of columns: RegFS inverts a matrix of all columns."""

N_KNOWN = (0, 5, 20)


def main_jobs(records: Sequence[Record], repeats: int) -> list[Job]:
    """Return jobs of ``ODEFS()`` and ``ODEFS.paper()``, the latter capped on large datasets."""
    jobs = []
    for dataset in (*ELEVEN, *MORE):
        for seed in range(min(repeats, MORE_REPEATS.get(dataset, REPEATS))):
            jobs += [Job("ODEFS", dataset, seed), _paper(dataset, seed)]
    return jobs


def bare_jobs(records: Sequence[Record], repeats: int) -> list[Job]:
    """Return a job of the bare detector for each ``ODEFS()`` in the records."""
    return [
        bare_job(record) for record in records if "total_subsets" in record and is_default(record)
    ]


def bare_job(record: Record) -> Job:
    """Return the job without learned subsets, with the same number of reference subsets.

    Scaling, companions, metric and subset size are the same by default.
    """
    job = record["job"]
    options: Options = (("n_subsets", record["total_subsets"]), ("trust", 0.0))
    return Job(
        "ODEFS",
        job["dataset"],
        job["seed"],
        options=options,
        content=job.get("content", ""),
        version=job.get("version", ""),
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
    """Return the paper's synthetic data, and the eleven with columns of uniform noise."""
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
    """Return jobs that test whether rows with high agreement stay in the top k under another
    seed.
    """
    return [
        Job("agreement", dataset, seed)
        for dataset in ELEVEN
        for seed in range(min(repeats, FEW_REPEATS))
    ]


def known_jobs(records: Sequence[Record], repeats: int) -> list[Job]:
    """Return jobs for the AUC on the remaining rows with some cases known."""
    return [
        Job("known", dataset, seed, options=(("n_known", number),))
        for dataset in ELEVEN
        for seed in range(min(repeats, FEW_REPEATS))
        for number in N_KNOWN
    ]


def baseline_jobs(records: Sequence[Record], repeats: int) -> list[Job]:
    """Return jobs that count the values of matrices; they draw nothing, so one seed is enough."""
    return [Job(method, dataset, 0) for dataset in (*ELEVEN, *MORE) for method in BASELINES]


def mixed_jobs(records: Sequence[Record], repeats: int) -> list[Job]:
    """Return jobs on tables with categories; peers get the matrix of ``TableEncoder``."""
    return [
        Job(method, dataset, seed)
        for dataset in MIXED
        for method in MIXED_METHODS
        for seed in range(min(repeats, REPEATS if method in OURS else FEW_REPEATS))
    ]


PARTS: dict[str, Callable[[Sequence[Record], int], list[Job]]] = {
    "main": main_jobs,
    "bare": bare_jobs,
    "ablation": ablation_jobs,
    "noise": noise_jobs,
    # Again, for the fits of ODEFS() that the part before has added.
    "noise bare": bare_jobs,
    "agreement": agreement_jobs,
    "known": known_jobs,
    "baselines": baseline_jobs,
    "mixed": mixed_jobs,
}
"""In this order: the jobs of a part may be derived from the records of earlier parts."""


def versioned(job: Job) -> Job:
    """Return the job with the present version of its method."""
    return replace(job, version=version_of(job.method)) if job.method in OURS else job


def without_older(records: Sequence[Record]) -> list[Record]:
    """Return the records without those that were made again by a newer version of the method."""
    jobs = [job_of(record) for record in records]
    is_present = [job.method not in OURS or job.version == version_of(job.method) for job in jobs]
    made_again = {
        replace(job, version="").key for job, now in zip(jobs, is_present, strict=True) if now
    }
    return [
        record
        for record, job, now in zip(records, jobs, is_present, strict=True)
        if now or replace(job, version="").key not in made_again
    ]


def of_part(part: str, records: Sequence[Record]) -> list[Record]:
    """Return the records that belong to a part, without failures."""
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
    """Return the number of columns of a widened dataset."""
    name, _, query = dataset.partition("?")
    settings = dict(part.split("=") for part in query.split("&"))
    return (
        int(settings["n_columns"])
        if name == "shifted"
        else BY_NAME[name].shape[1] * (100 + int(settings["noise"])) // 100
    )
