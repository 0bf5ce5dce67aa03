"""HTML page of the report, rendered by jinja2 with autoescape; only this file imports jinja2.

Data are passed to the script as JSON in which ``<``, ``>``, ``&`` and line separators are escaped,
so that no value can end the script element. The content security policy allows the page's script
and style sheet by their hashes, so that nothing else in the page can run.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from odefs.report.page_data import page_data
from odefs.tables import messages

TOP_INLINE = 10
SCRIPTS = (
    "elements",
    "state",
    "axes",
    "charts",
    "histogram",
    "map",
    "training",
    "csv",
    "threshold",
    "filters",
    "table",
    "strip",
    "compare",
    "row",
    "distribution",
    "marks",
    "start",
)
"""Parts of the page's script in order; they share one scope."""


def render_page(summary: dict[str, Any], drawing: dict[str, Any]) -> str:
    """Render a self-contained HTML page."""
    style = template_text("style.css")
    script = in_one_scope([template_text(f"script/{name}.js") for name in SCRIPTS])
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            summary=summary,
            of_training=drawing["of_training"],
            has_answers=drawing["has_answers"],
            messages=messages,
            # Script and style must stay as they were hashed: an escaped or added character would
            # make the browser refuse them.
            policy=Markup(content_policy(script, style)),
            style=Markup(style),
            script=Markup(script),
            data=Markup(safe_json(page_data(summary, drawing))),
        )
    )


def in_one_scope(parts: Sequence[str]) -> str:
    """Return the parts of a script as one, without names in the page's own scope."""
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"


def content_policy(script: str, style: str, connects: bool = False) -> str:
    """Return the content security policy: own script and style by hash, and embedded images.

    ``connects``: the script may also send requests to the server of its page.
    """
    allowed = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, style)
    ]
    # The report is a file and sends nothing; the review page sends answers to its server.
    own_server = "connect-src 'self'; " if connects else ""
    return (
        f"default-src 'none'; script-src 'sha256-{allowed[0]}'; "
        f"style-src 'sha256-{allowed[1]}'; img-src data:; "
        f"{own_server}base-uri 'none'; form-action 'none'"
    )


def render_inline(page: str, summary: dict[str, Any], picture: str) -> str:
    """Render the page in a frame for a notebook.

    A picture and a table are included for viewers that support neither frames nor scripts.
    """
    return (
        _environment()
        .get_template("inline.html.j2")
        .render(
            summary=summary,
            messages=messages,
            page=page,
            picture=picture,
            top=summary["top"][:TOP_INLINE],
        )
    )


def safe_json(value: object) -> str:
    """Return JSON that is safe inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(template_text),
        # For every template: select_autoescape() decides by the suffix, and .j2 is not among its
        # own.
        autoescape=True,
        # A field that is missing from the summary is an error, not empty text.
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def template_text(name: str) -> str:
    """Return a file of the templates."""
    return (files("odefs.report") / "templates" / name).read_text(encoding="utf-8")
