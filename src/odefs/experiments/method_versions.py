"""Versions of the methods, and the distance in their scores: both belong to a job's key.

A record belongs to the code that made it. After a change of a method its old records are neither
used again nor mixed with new ones; pages show them as records of the older version.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from odefs.experiments.grid import Job, Record, job_of
from odefs.experiments.methods import built_in
from odefs.experiments.peers import PYOD, peers

METHOD_VERSION = "2"
"""Version of the methods of the paper. Raise it with every change that changes their results:
``tests/experiments/test_method_versions.py`` compares these with recorded ones.

1 (records without a version): ``ODEFS.paper()`` stopped at a tolerance of 1e-4, and the bare
detector and the competitors scored by plain distances. 2: ``ODEFS.paper()`` converges (1e-6, in
float64), and all methods of the paper score by squared distances.
"""

DEFAULT_VERSION = "8"
"""The same for ``ODEFS()`` with its default parameters, and for ``odefs.detect``.

2: it draws in extreme values and has companions. 3: columns with one dominant value take no part in
relations, companions of little weight do not join, and there are fewer members on all columns. 4:
relations have half the weight. 5: relations count as far as columns explain each other, missing
numbers are not replaced, trust in a tail needs other rows that confirm it, and columns of a table
of noise alone are not damped. 6: relations are learned from missing cells as such, and equal rows
confirm no tail. 7: subsets are not trusted for the rare value of one column, and a category alone
does not make other columns noise. 8: subsets that leave out a column with a value far beyond all
others count little, columns without two values change no trust, unrelated categories are noise
among noise, noise is recognised from 250 rows on, coupling leaves amounts that are mostly zero to
the distances, and frequent categories are less far out.
"""

OF_DEFAULT = {"ODEFS", "agreement", "known", "odefs.detect", "odefs.detect, trust 0"}
"""Methods and measurements that use the default parameters."""

METRIC = "sqeuclidean"
"""Distance in the scores of all methods of the paper, from its section on the detector."""

WITH_OWN_METRIC = {"ODEFS"}
"""The library's default is compared as it is; its plain distances are one of its differences."""


def current(job: Job) -> Job:
    """Return the job with the version and the distance of its method as they are now."""
    of_the_paper = job.method in built_in() and job.method not in WITH_OWN_METRIC
    return replace(job, version=version_of(job.method), metric=METRIC if of_the_paper else "")


def version_of(method: str) -> str:
    """Return the version of a method's code.

    For a user's own class this is a digest of its module's source, for a peer the version of its
    package.
    """
    if method in OF_DEFAULT:
        return DEFAULT_VERSION
    if method in built_in():
        return METHOD_VERSION
    if method in peers():
        return _package_version("pyod" if method in PYOD else "scikit-learn")
    module = method.partition(":")[0]
    found = find_spec(module)
    if found is None or found.origin is None or not Path(found.origin).is_file():
        return ""
    return sha256(Path(found.origin).read_bytes()).hexdigest()[:16]


def _package_version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


def without_version(job: Job) -> Job:
    """Return the job as it was before versions were recorded."""
    return replace(job, version="", metric="")


def is_older(record: Record) -> bool:
    """Whether a record of a built-in method is of another version than the present one."""
    job = job_of(record)
    return job.method in built_in() and job != current(job)


def newest(records: Sequence[Record], jobs: Sequence[Job]) -> list[Record]:
    """Return the records of the jobs, of the present version or, if there are none, of older ones.

    Peers do not depend on the version of the methods: their last records count.
    """
    wanted = {without_version(job).key for job in jobs}
    part: dict[str, dict[str, Record]] = {"present": {}, "older": {}}
    for record in records:
        key = without_version(job_of(record)).key
        if key in wanted:
            part["older" if is_older(record) else "present"][key] = record
    # A section has records of one version: old ones only as long as there is no new one.
    ours = any(record["job"]["method"] in built_in() for record in part["present"].values())
    return list((part["present"] if ours else part["older"] | part["present"]).values())


def version_sentence(records: Sequence[Record]) -> str:
    """Return a remark if the records are of an older version of the methods, otherwise nothing."""
    older = {record["job"].get("version", "") or "1" for record in records if is_older(record)}
    if not older:
        return ""
    return (
        f"Records of version {' and '.join(sorted(older))} of the methods; the command runs "
        f"version {METHOD_VERSION}, and version {DEFAULT_VERSION} of `ODEFS()`."
    )
