"""Report object: one summary, rendered as a page, JSON, Markdown, or inline in a notebook."""

import base64
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odefs._extras import command
from odefs.report import missing_packages
from odefs.system.atomic_write import atomic_write

FORMS = (".html", ".json", ".md")


@dataclass(frozen=True, eq=False)
class Report:
    """``summary`` is a plain dict; ``drawing`` holds data that only the page uses."""

    summary: dict[str, Any]
    drawing: dict[str, Any]

    def html(self) -> str:
        """Render a self-contained page."""
        _require_extra()
        from odefs.report.page import render_page

        return render_page(self.summary, self.drawing)

    def json(self) -> str:
        """Return the summary as JSON."""
        return json.dumps(self.summary, ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    def markdown(self) -> str:
        """Return the summary as Markdown."""
        from odefs.report.markdown import render_markdown

        return render_markdown(self.summary)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Write the report atomically, in the format of the suffix: .html, .json or .md."""
        path = Path(path)
        forms = {".html": self.html, ".htm": self.html, ".json": self.json, ".md": self.markdown}
        render = forms.get(path.suffix.lower())
        if render is None:
            raise ValueError(f"{path}: the suffix of a report must be one of {', '.join(FORMS)}.")
        if path.exists() and not force:
            raise FileExistsError(
                f"{path} exists: choose another name, or replace it with force=True."
            )
        content = render()
        with atomic_write(path) as partial:
            # The same bytes on every system, also where text files end lines with \r\n.
            partial.write_text(content, encoding="utf-8", newline="\n")
        return path

    def _repr_html_(self) -> str:
        _require_extra()
        from odefs.report.page import render_inline
        from odefs.report.svg import static_scores

        picture = base64.b64encode(static_scores(self.summary["scores"]).encode()).decode()
        return render_inline(self.html(), self.summary, picture)

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __repr__(self) -> str:
        from odefs.tables.messages import headline

        return f"<Report: {headline(self.summary)}>"


def _require_extra() -> None:
    """Raise an error that names what to install if the page cannot be rendered."""
    missing = missing_packages()
    if missing:
        raise ModuleNotFoundError(
            f"The page needs {', '.join(missing)}: {command('report')}. "
            "JSON and Markdown need nothing more."
        )
