"""How a notebook shows a detection: a light table, and the ways to the whole page.

A notebook never receives the page itself unless :meth:`NotebookView.report` is the value of a cell:
the page of a large table takes a megabyte, and notebooks save their outputs. Nor is a file written
for a cell that merely shows a detection, since the page has values of the table in it. The link is
therefore the link to a page that was saved. It is relative to the folder of the kernel, which is
the notebook's: JupyterLab opens such a link in a tab, where "Trust HTML" starts the page's script,
whereas browsers refuse to follow a link from Jupyter's address to ``file://``. VS Code opens the
file in its editor; there, :meth:`NotebookView.show` opens the browser.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from odefs.report import build_report
from odefs.report.light_table import render_light
from odefs.report.report import Report
from odefs.system.browser import has_screen, open_file
from odefs.system.tempfiles import folder_of
from odefs.tables.error_messages import names_arguments


class NotebookView:
    """Mixin of a detection that may have a ``page``, the path of its saved report."""

    @names_arguments
    def report(self: Any) -> Report:
        """The report: ``.save("page.html")``, ``.markdown()``, ``.json()``; shown in notebooks."""
        self.require_importances()
        return build_report(self)

    def save_report(self, path: str | os.PathLike[str], force: bool = False) -> Self:
        """Write the report, and return the detection with a link to it in notebooks.

        Parameters
        ----------
        path : str or path
            The suffix is the format: .html, .json or .md. In a folder at or below the notebook's,
            the link also works after the folder has moved.
        force : bool
            Whether an existing file is replaced.

        Examples
        --------
        The last line of a cell shows the first rows and the link::

            found = odefs.detect(frame)
            found.save_report("outliers.html", force=True)
        """
        detection: Any = self
        saved = detection.report().save(path, force=force)
        return replace(detection, page=saved.resolve())

    def show(self) -> None:
        """Open the page in the browser of this machine, without leaving a file in the folder.

        The page is a temporary file, deleted when Python ends. For a kernel on another machine use
        :meth:`save_report`, whose link works there.
        """
        if not has_screen():
            raise RuntimeError(
                "no browser can open a window on this machine: .save_report('page.html') writes "
                "the page, and a notebook shows .report()."
            )
        # The detection may be gone before the browser has read the file.
        file = folder_of(NotebookView) / "report.html"
        detection: Any = self
        open_file(detection.report().save(file))

    @names_arguments
    def _repr_html_(self: Any) -> str:
        """The most outlying rows with their reasons, and a link to the page if it was saved."""
        return render_light(self, None if self.page is None else link_target(self.page))


def link_target(page: Path) -> str:
    """Return the address of a file, relative to the working folder where the file is below it."""
    try:
        # A relative link still works when the folder has moved or is served from another machine.
        return quote(page.relative_to(Path.cwd()).as_posix())
    except ValueError:
        return page.as_uri()
