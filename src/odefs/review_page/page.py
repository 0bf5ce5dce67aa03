"""The page of the review: own script and style sheet, and no data, which the script requests.

The content security policy allows script and style sheet by their hashes and requests to the
page's own server.
"""

from functools import lru_cache
from importlib.resources import files

from odefs.report.page import content_policy, in_one_scope, template_text

SHARED_SCRIPTS = ("elements", "axes", "strip")
"""Parts of the report's script that this page uses."""


@lru_cache(maxsize=1)
def render_page() -> tuple[str, str]:
    """Return the page and its content security policy."""
    style = template_text("style.css") + _text("review.css")
    shared = [template_text(f"script/{name}.js") for name in SHARED_SCRIPTS]
    script = in_one_scope([*shared, _text("curve.js"), _text("review.js")])
    policy = content_policy(script, style, connects=True)
    page = _text("review.html")
    for mark, content in (("STYLE", style), ("SCRIPT", script)):
        page = page.replace(f"/*{mark}*/", content)
    return page, f"{policy}; frame-ancestors 'none'"


def _text(name: str) -> str:
    return (files("odefs.review_page") / "templates" / name).read_text(encoding="utf-8")
