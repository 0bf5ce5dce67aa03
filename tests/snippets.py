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
from snippet_rules import AS_IT_STANDS, CATEGORIES, RULES, Rule

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

FAST_PAGES = {"README.md"}
"""Pages whose snippets ``make test`` runs; ``make slow`` runs the others."""


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
