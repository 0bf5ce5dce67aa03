"""Rules for the snippets of pages that need more than a folder of files, or that are not run."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from locations import ROOT

if TYPE_CHECKING:
    from snippets import Snippet

AS_IT_STANDS = "as it stands"
RECIPE = "as it stands, by test_recipes.py"
WORKFLOW = "by a workflow"
REPLACED = "with replaced names"
STAND_IN = "with a stand-in"
NOT_RUN = "not run"
CATEGORIES = (AS_IT_STANDS, RECIPE, WORKFLOW, REPLACED, STAND_IN, NOT_RUN)
OF_TEST_SNIPPETS = {AS_IT_STANDS, REPLACED, STAND_IN}
"""Categories that ``tests/project/test_snippets.py`` runs."""


@dataclass(frozen=True)
class Rule:
    """How some snippets are run that need more than a folder of files, or why they are not."""

    pages: tuple[str, ...]
    """Empty for all pages."""
    starts: tuple[str, ...]
    """How the snippets begin; empty for all of the pages."""
    category: str
    note: str
    """What is arranged for them, what stands in for what, or why they are not run."""
    arrangement: str = ""
    """Name in ``snippet_arrangements.ARRANGEMENTS``."""
    replaced: tuple[str, ...] = ()
    """Parts of the text that the arrangement replaces."""
    run_by: str = ""
    """The file that runs the snippets instead, or the nearest to them."""

    def holds(self, snippet: "Snippet") -> bool:
        return (not self.pages or snippet.page in self.pages) and (
            not self.starts or snippet.text.startswith(self.starts)
        )


RECIPES = tuple(
    path.relative_to(ROOT).as_posix()
    for path in sorted((ROOT / "docs" / "how-to" / "recipes").rglob("*.md"))
)
CONTRIBUTING, RELEASING = ("CONTRIBUTING.md",), ("RELEASING.md",)
LARGE_TABLES = ("docs/how-to/large-tables.md",)
SOURCES = ("docs/how-to/read-sources.md",)
SERVE = ("docs/how-to/serve.md",)
GPU = ("docs/how-to/gpu.md",)
RULES = [
    Rule(
        ("docs/how-to/check-values.md",),
        ("odefs detect diamonds.csv",),
        AS_IT_STANDS,
        "in a terminal of 120 columns",
        "wide_terminal",
    ),
    Rule(
        RECIPES,
        (),
        RECIPE,
        "with the packages of requirements/recipes.txt",
        run_by="tests/project/test_recipes.py",
    ),
    Rule(
        (),
        ("pip install ",),
        STAND_IN,
        "pip checks that the environment of the tests has all packages, and installs nothing "
        "(PIP_DRY_RUN, PIP_NO_INDEX)",
        "pip",
    ),
    Rule(
        CONTRIBUTING,
        ("python -m tests.frozen record",),
        AS_IT_STANDS,
        "in a copy of the checkout",
        "checkout",
    ),
    Rule(
        CONTRIBUTING,
        ("python -m tests.frozen compare",),
        STAND_IN,
        "in a copy of the checkout with a few of the recorded runs; test_frozen_runs.py compares "
        "all",
        "few_runs",
    ),
    Rule(
        CONTRIBUTING,
        ("python -m tests.fuzz.mutate",),
        STAND_IN,
        "in a copy of the checkout, with 100 files",
        "few_files",
        (" 10000 ",),
    ),
    Rule(
        CONTRIBUTING,
        ("python -m tests.fuzz.guided",),
        NOT_RUN,
        "ten minutes with a package that only make fuzz installs, which runs it",
        run_by="Makefile",
    ),
    Rule(
        CONTRIBUTING,
        ("pipx run pre-commit",),
        WORKFLOW,
        "with a pinned version of pre-commit, without the hooks that make lint runs",
        run_by=".github/workflows/tests.yml",
    ),
    Rule(
        RELEASING,
        ("python -m venv ",),
        REPLACED,
        "in a temporary folder",
        "rehearsal",
        ("/tmp/rehearsal",),
    ),
    Rule(
        RELEASING,
        ("/tmp/rehearsal/bin/pip install numpy",),
        STAND_IN,
        "pip finds the packages of the environment of the tests, linked into the new one",
        "rehearsal_packages",
        ("/tmp/rehearsal",),
    ),
    Rule(
        RELEASING,
        ("/tmp/rehearsal/bin/pip install --no-deps", "cd /tmp "),
        REPLACED,
        "with an index on the loopback interface that has the wheel of the checkout",
        "index",
        ("/tmp/rehearsal", "X.Y.Z", "PATH_TO_CHECKOUT"),
    ),
    Rule(
        RELEASING,
        ("pip download ",),
        REPLACED,
        "with the same index",
        "index",
        ("X.Y.Z",),
    ),
    Rule(
        RELEASING,
        ("git ",),
        REPLACED,
        "in a new repository with a key of its own, which pushes to a folder",
        "repository",
        ("X.Y.Z",),
    ),
    Rule(
        RELEASING,
        ("pipx run pypi-attestations",),
        NOT_RUN,
        "needs a published release",
        run_by=".github/workflows/release.yml",
    ),
    Rule(
        ("docs/tutorials/platform-engineer.md",),
        ("docker ",),
        WORKFLOW,
        "needs Docker",
        run_by=".github/workflows/tests.yml",
    ),
    Rule(
        (
            "docs/tutorials/researcher.md",
            "docs/explanation/results.md",
        ),
        (
            "odefs reproduce table1 --datasets arrhythmia",
            "odefs reproduce table1 -o",
            "odefs reproduce table2",
            "odefs reproduce selfpaced",
            "odefs reproduce theorem",
            "odefs reproduce noise",
            "odefs reproduce scalability",
        ),
        STAND_IN,
        "resumes a run in which one job of each method is missing; small tables stand in for the "
        "paper's datasets",
        "recorded_jobs",
    ),
    Rule(
        ("docs/explanation/accuracy.md",),
        ("odefs reproduce ",),
        STAND_IN,
        "resumes the recorded run without the datasets: missing jobs on generated data run",
        "recorded_accuracy",
    ),
    Rule(
        GPU,
        ("model = ODEFS.paper(engine=",),
        NOT_RUN,
        "needs two GPUs",
        run_by="tests/engines/test_torch.py",
    ),
    Rule(GPU, ("python -m benchmarks gpu",), NOT_RUN, "needs a GPU", run_by="benchmarks/gpu.py"),
    Rule(
        LARGE_TABLES,
        ("def score(batches):",),
        STAND_IN,
        "a class with mapInArrow stands in for Spark",
        "spark",
        ("/shared",),
    ),
    Rule(
        LARGE_TABLES,
        ("import odefs\nimport pyarrow as pa\nimport ray",),
        STAND_IN,
        "a module with data.read_parquet stands in for Ray",
        "ray",
        ("/shared", "s3://bucket/rows"),
    ),
    Rule(
        LARGE_TABLES,
        ("from distributed import Client",),
        REPLACED,
        "with a scheduler and two workers on this machine, and a folder instead of the bucket",
        "dask",
        ("scheduler:8786", "s3://bucket/rows"),
    ),
    Rule(
        SOURCES,
        ("export PGPASSWORD", 'odefs detect "postgresql:'),
        AS_IT_STANDS,
        "with a PostgreSQL server, to which PGHOSTADDR and PGPORT lead",
        "postgresql",
    ),
    Rule(
        SOURCES,
        ("odefs detect https://",),
        AS_IT_STANDS,
        "with a proxy that answers as example.com, with a certificate that the command trusts",
        "web",
    ),
    Rule(
        SOURCES,
        ("odefs detect s3://",),
        AS_IT_STANDS,
        "with a server that AWS_ENDPOINT_URL names",
        "s3",
    ),
    Rule(
        SOURCES,
        ("odefs detect gs://",),
        AS_IT_STANDS,
        "with a server that CLOUD_STORAGE_EMULATOR_ENDPOINT names",
        "gs",
    ),
    Rule(
        SERVE,
        ("ODEFS_MODEL=", "curl "),
        REPLACED,
        "on a free port",
        "free_port",
        ("8000",),
    ),
]
