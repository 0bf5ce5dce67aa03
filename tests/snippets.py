"""Code and commands of all pages, in the order of each page, and how the tests run each of them.

``python -m tests.snippets`` prints how many there are of each category, and lists what is arranged
for them or why they are not run. ``tests/project/test_snippets.py`` runs them.
"""

import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

from locations import ROOT

FILES = (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in FILES)
FENCE = re.compile(r"^( *)```(python|py|sh|console|yaml)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# ([\w/-]+\.\w+)\n")
COMMANDS = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
END_OF_COMMAND = re.compile(r"(?<!\\)\n")


@dataclass(frozen=True)
class Snippet:
    """A block of Python, one shell command, or a file of either kind."""

    page: str
    kind: str
    """``python`` or ``shell``."""
    text: str
    output: str | None = None
    """What the page shows below the command; lines of three dots stand for any lines."""
    file: str | None = None
    """The file that the block is written to: the comment in its first line names it."""


def snippets_of(page: str) -> list[Snippet]:
    """Python blocks as they are, and commands one by one without comments."""
    found: list[Snippet] = []
    for indent, language, body in FENCE.findall((ROOT / page).read_text(encoding="utf-8")):
        body = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        name = FILE_NAME.match(body)
        file = name[1] if name else None
        if language in ("python", "py"):
            found.append(Snippet(page, "python", body, file=file))
        elif language == "console":
            commands = COMMANDS.findall(body)
            found.extend(Snippet(page, "shell", line, output) for line, output in commands)
        elif language == "yaml":
            runs = re.findall(r"^ *-? *run: (.+)$", body, flags=re.MULTILINE)
            found.extend(Snippet(page, "shell", line) for line in runs)
        elif file:
            found.append(Snippet(page, "shell", body, file=file))
        else:
            lines = [re.sub(r"\s+# .*$", "", line) for line in END_OF_COMMAND.split(body)]
            found.extend(Snippet(page, "shell", line.strip()) for line in lines if line.strip())
    return found


SNIPPETS = [snippet for page in PAGES for snippet in snippets_of(page)]

AS_IT_STANDS = "as it stands"
RECIPE = "as it stands, by test_recipes.py"
WORKFLOW = "by a workflow"
REPLACED = "with replaced names"
STAND_IN = "with a stand-in"
NOT_RUN = "not run"
CATEGORIES = (AS_IT_STANDS, RECIPE, WORKFLOW, REPLACED, STAND_IN, NOT_RUN)
OF_TEST_SNIPPETS = {AS_IT_STANDS, REPLACED, STAND_IN}
"""Categories that ``tests/project/test_snippets.py`` runs."""
FAST_PAGES = {"README.md"}
"""Pages whose snippets ``make test`` runs; ``make slow`` runs the others."""


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

    def holds(self, snippet: Snippet) -> bool:
        return (not self.pages or snippet.page in self.pages) and (
            not self.starts or snippet.text.startswith(self.starts)
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
        tuple(page for page in PAGES if page.startswith("docs/how-to/recipes/")),
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


def rule_of(snippet: Snippet) -> Rule | None:
    """Return how a snippet is run if it needs more than a folder of files."""
    return next((rule for rule in RULES if rule.holds(snippet)), None)


def category_of(snippet: Snippet) -> str:
    rule = rule_of(snippet)
    return rule.category if rule else AS_IT_STANDS


def counts() -> Counter:
    """Return numbers of snippets by category and kind; what ``make test`` runs is apart."""
    found: Counter = Counter()
    for snippet in SNIPPETS:
        category = category_of(snippet)
        if category == AS_IT_STANDS:
            category += ", fast" if snippet.page in FAST_PAGES else ", slow"
        found[category, snippet.kind] += 1
    return found


if __name__ == "__main__":
    found = counts()
    for category in dict.fromkeys(category for category, _ in sorted(found)):
        print(
            f"{category:35}{found[category, 'python']:4} Python{found[category, 'shell']:5} shell"
        )
    for category in CATEGORIES:
        print(f"\n{category}")
        for rule in (one for one in RULES if one.category == category):
            held = [one for one in SNIPPETS if rule_of(one) is rule]
            where = ", ".join(dict.fromkeys(one.page for one in held))
            names = (
                f"; replaces {', '.join(map(str.strip, rule.replaced))}" if rule.replaced else ""
            )
            print(f"  {len(held)} in {where}: {rule.note}{names}")
