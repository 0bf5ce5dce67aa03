"""Arrangements of the rules in ``snippet_rules.py`` by name, each a context manager on a folder."""

import json
import re
from contextlib import contextmanager

import snippet_settings
from locations import ROOT
from snippet_checkouts import checkout, few_files, few_runs
from snippet_clusters import dask, ray, spark
from snippet_experiments import recorded_accuracy, recorded_jobs
from snippet_releases import index, pip, rehearsal, rehearsal_packages, repository
from snippet_servers import gs, postgresql_shop, s3, web
from snippet_settings import Setting


@contextmanager
def wide_terminal(folder):
    """Long lines are not wrapped."""
    yield Setting({"COLUMNS": "120"})


@contextmanager
def free_port(folder):
    """A port for the server of the page, which must answer as the page shows."""
    port = snippet_settings.free_port()
    environment = {"no_proxy": "localhost", "NO_PROXY": "localhost"}
    yield Setting(environment, {"8000": str(port)}, after=_require_answer, port=port)


def _require_answer(snippet, done):
    page = (ROOT / snippet.page).read_text(encoding="utf-8")
    (shown,) = re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)
    found = json.loads(done.stdout, parse_float=lambda text: round(float(text), 2))
    assert found == json.loads(shown), done.stdout


ARRANGEMENTS = {
    "checkout": checkout,
    "dask": dask,
    "few_files": few_files,
    "few_runs": few_runs,
    "free_port": free_port,
    "gs": gs,
    "index": index,
    "pip": pip,
    "postgresql": postgresql_shop,
    "ray": ray,
    "recorded_accuracy": recorded_accuracy,
    "recorded_jobs": recorded_jobs,
    "rehearsal": rehearsal,
    "rehearsal_packages": rehearsal_packages,
    "repository": repository,
    "s3": s3,
    "spark": spark,
    "web": web,
    "wide_terminal": wide_terminal,
}
