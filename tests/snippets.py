"""Code and commands of all pages, in the order of each page.

``python -m tests.snippets`` prints how many there are, and which run elsewhere and why.
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


@dataclass(frozen=True)
class Snippet:
    """A block of Python, or one shell command."""

    page: str
    kind: str
    """``python`` or ``shell``."""
    text: str
    output: str | None = None
    """What the page shows below the command; lines of three dots stand for any lines."""


def snippets_of(page: str) -> list[Snippet]:
    """Python blocks as they are, and commands line by line without comments."""
    found: list[Snippet] = []
    for indent, language, body in FENCE.findall((ROOT / page).read_text(encoding="utf-8")):
        body = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        if language in ("python", "py"):
            found.append(Snippet(page, "python", body))
        elif language == "console":
            command, _, output = body.partition("\n")
            found.append(Snippet(page, "shell", command.removeprefix("$ "), output))
        elif language == "yaml":
            runs = re.findall(r"^ *-? *run: (.+)$", body, flags=re.MULTILINE)
            found.extend(Snippet(page, "shell", line) for line in runs)
        else:
            lines = [re.sub(r"\s+# .*$", "", line).strip() for line in body.splitlines()]
            found.extend(Snippet(page, "shell", line) for line in lines if line)
    return found


SNIPPETS = [snippet for page in PAGES for snippet in snippets_of(page)]


@dataclass(frozen=True)
class Elsewhere:
    """Snippets that need more than a folder of files."""

    page: str
    start: str
    """How the snippets begin; empty for all of the page."""
    reason: str
    run_by: str
    """The file that runs the same, or tests what the snippet calls."""

    def holds(self, snippet: Snippet) -> bool:
        return snippet.page == self.page and snippet.text.startswith(self.start)


HOURS = "computes the results of the paper for hours; the page is written from its files"
RUN_ELSEWHERE = [
    Elsewhere("CONTRIBUTING.md", "", "works on the checkout itself", "Makefile"),
    Elsewhere("RELEASING.md", "", "releases a version", ".github/workflows/release.yml"),
    Elsewhere(
        "docs/tutorials/platform-engineer.md",
        "docker ",
        "needs Docker",
        ".github/workflows/tests.yml",
    ),
    Elsewhere(
        "docs/tutorials/researcher.md",
        "odefs reproduce ",
        "needs the paper's datasets",
        "tests/experiments/test_experiment_grid.py",
    ),
    Elsewhere(
        "docs/explanation/accuracy.md",
        "odefs reproduce ",
        HOURS,
        "tests/experiments/test_accuracy.py",
    ),
    Elsewhere(
        "docs/explanation/results.md",
        "odefs reproduce ",
        HOURS,
        "tests/experiments/test_results_page.py",
    ),
    Elsewhere(
        "docs/how-to/check-values.md",
        "odefs detect diamonds.csv",
        "the file belongs to other packages",
        "benchmarks/wild/__main__.py",
    ),
    Elsewhere(
        "docs/how-to/gpu.md",
        "from odefs import ODEFS",
        "needs two GPUs",
        "tests/engines/test_torch.py",
    ),
    Elsewhere("docs/how-to/gpu.md", "python -m benchmarks gpu", "needs a GPU", "benchmarks/gpu.py"),
    Elsewhere(
        "docs/how-to/large-tables.md",
        "def score(batches):",
        "needs Spark",
        "tests/tables/test_score_batches.py",
    ),
    Elsewhere(
        "docs/how-to/large-tables.md",
        "import odefs\nimport pyarrow as pa\nimport ray",
        "needs Ray",
        "tests/tables/test_score_batches.py",
    ),
    Elsewhere(
        "docs/how-to/large-tables.md",
        "from distributed import Client",
        "needs a cluster and a bucket",
        "tests/engines/test_dask.py",
    ),
    *(
        Elsewhere(
            "docs/how-to/read-sources.md",
            start,
            "needs a PostgreSQL server",
            "tests/tables/test_databases.py",
        )
        for start in ("export PGPASSWORD", 'odefs detect "postgresql:')
    ),
    *(
        Elsewhere(
            "docs/how-to/read-sources.md",
            f"odefs detect {scheme}://",
            "needs a web server or a bucket",
            "tests/tables/test_addresses.py",
        )
        for scheme in ("https", "s3", "gs")
    ),
    Elsewhere("docs/how-to/serve.md", "", "needs a running server", "tests/project/test_serve.py"),
    *(
        Elsewhere(
            page, "", "needs packages of an environment of its own", "tests/project/test_recipes.py"
        )
        for page in PAGES
        if page.startswith("docs/how-to/recipes/")
    ),
]


def place(snippet: Snippet) -> Elsewhere | None:
    """Return where a snippet runs, if it is not run here."""
    return next((one for one in RUN_ELSEWHERE if one.holds(snippet)), None)


def counts() -> Counter:
    """Return numbers of snippets by kind and by whether they run here."""
    return Counter(
        (snippet.kind, "run here" if place(snippet) is None else "run elsewhere")
        for snippet in SNIPPETS
    )


if __name__ == "__main__":
    for (kind, where), number in sorted(counts().items()):
        print(f"{kind:7}{where:15}{number:4}")
    for one in RUN_ELSEWHERE:
        shown = one.start.partition("\n")[0] or "all"
        print(f"{one.page}: {shown}: {one.reason} ({one.run_by})")
