"""Opens a secret address in the browser without a command line that other users can list.

The browser is given a file that only this user can read, and which leads to the address.
"""

from pathlib import Path

from odefs.system.browser import open_file

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>odefs review</title>
</head>
<body><p><a href="{address}">Go to the review</a></p></body>
</html>
"""


def open_browser(address: str, folder: Path) -> None:
    """Open the address; ``folder`` is private and should last as long as browsers take to start."""
    from odefs.system.atomic_write import create_private

    file = folder / "review.html"
    create_private(file)
    file.write_text(PAGE.format(address=address), encoding="utf-8")
    open_file(file)
