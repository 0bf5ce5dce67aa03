"""Sphinx's settings. ``build.py`` puts this file beside the staged pages."""

import os
import re
import sys
import warnings
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "site"))
sys.path.insert(0, str(Path(os.environ["ODEFS_ROOT"]) / "src"))

import odefs  # noqa: E402
from odefs.exceptions import ODEFSWarning  # noqa: E402

warnings.filterwarnings("ignore", category=ODEFSWarning)

project, author = "odefs", "The odefs developers"
copyright = author
release = version = odefs.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
exclude_patterns = ["site", "examples", "figures"]
templates_path = ["site/templates"]

# Types of other libraries are described in words; only names of this library must resolve.
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(?!odefs\b).*"), (r"py:class", r"odefs\.baselines")]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["torch", "triton", "dask", "distributed", "onnx", "onnxruntime", "shap"]
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "pydata_sphinx_theme"
html_title = "odefs"
html_math_renderer = "mathml"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}  # or the theme complains in the browser's console
html_theme_options = {
    "logo": {"text": "odefs"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": ExplicitOrder(
        [
            *("tutorial.py", "which_columns.py", "plots.py", "threshold.py", "review.py"),
            *("when_selection_helps.py", "peers.py"),
        ]
    ),
    # Pages show the current behaviour of the library even if their scripts have not changed.
    "run_stale_examples": True,
    "download_all_examples": False,
    "write_computation_times": False,  # that page loads scripts from other hosts
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "backreferences_dir": None,
    "image_srcset": ["2x"],
    "matplotlib_animations": False,
}

SKLEARNS_OWN = re.compile(r"set_\w+_request|get_metadata_routing|set_callbacks|set_output|_\w+")


def skip_member(app, what, name, thing, skip, options):
    """Leave out what scikit-learn adds to every class."""
    return True if SKLEARNS_OWN.fullmatch(name) else None


def escape_shapes(app, what, name, thing, options, lines):
    """Keep Sphinx from linking shapes such as ``(n_features_in_,)``, with a word joiner."""
    lines[:] = [
        re.sub(
            r"(?<=of shape \().*?(?=\))", lambda shape: shape[0].replace("in_", "in\u2060_"), line
        )
        for line in lines
    ]


def leave_out_unwritten(app, docname, source):
    """Remove lines of a toctree that end with ``*`` while their generated pages are absent."""
    folder = (HERE / docname).parent
    lines = source[0].splitlines(keepends=True)
    source[0] = "".join(
        line
        for line in lines
        if not re.fullmatch(r"\S+\*", line.strip()) or any(folder.glob(line.strip()))
    )


def setup(app):
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-docstring", escape_shapes, priority=100)
    app.connect("source-read", leave_out_unwritten)
