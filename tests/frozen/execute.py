"""Execute a run in separate processes, in an empty folder, and extract facts and sentences."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from .calls import CALLS
from .facts import digest, document_facts, estimator_facts, plain
from .outputs import output_facts, text_facts
from .tables import FILES

ROOT = Path(__file__).resolve().parents[2]
SET_BY_RUNS = ("ODEFS_IN_PARTS", "ODEFS_MEMORY", "ODEFS_DATA", "PYTHONWARNINGS")
LIMIT = 600


def execute(run):
    """Record of a run: ``facts``, ``sentences``, ``bits``; ``skipped`` names a missing package."""
    with tempfile.TemporaryDirectory(prefix="frozen-") as name:
        folder = Path(name)
        if run.call is not None:
            needs = CALLS[run.call].needs
            record = (
                {"skipped": needs}
                if needs and find_spec(needs) is None
                else _call_apart(run.call, folder)
            )
        else:
            record = _steps(run, folder)
    return {"name": run.name, **record}


def _environment(run_in_parts=False):
    kept = {name: value for name, value in os.environ.items() if name not in SET_BY_RUNS}
    fixed = {
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        # The sources of this checkout, wherever the installed package points.
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
    }
    return kept | fixed | ({"ODEFS_IN_PARTS": "1"} if run_in_parts else {})


def _steps(run, folder):
    if run.files:
        FILES[run.files](folder)
    stdin = (folder / run.stdin).read_bytes() if run.stdin else b""
    done = [_step(shlex.split(step), folder, stdin, run.mode == "parts") for step in run.steps]
    facts, sentences, bits = zip(*done, strict=True)
    return {"facts": list(facts), "sentences": list(sentences), "bits": list(bits)}


def _step(words, folder, stdin, in_parts):
    process = subprocess.run(
        [sys.executable, "-m", "odefs", *words],
        capture_output=True,
        check=False,
        cwd=folder,
        env=_environment(in_parts),
        input=stdin,
        timeout=LIMIT,
    )
    stdout = process.stdout.decode()
    messages = [
        line for line in process.stderr.decode().splitlines() if not line.startswith("[progress] ")
    ]
    facts, sentences, bits = {"exit_code": process.returncode}, {"messages": messages}, None
    output = words[words.index("-o") + 1] if "-o" in words else None
    if "--json" in words:
        facts["document"], sentences["document"] = document_facts(json.loads(stdout))
    elif output != "-":
        sentences["screen"] = stdout.splitlines()
    if output == "-":
        facts["output"], sentences["output"], bits = text_facts(stdout)
    elif process.returncode in (0, 3):
        for path in (folder / words[words.index(o) + 1] for o in ("-o", "--report") if o in words):
            if path.suffix == ".json":
                facts["page"], sentences["page"] = document_facts(
                    json.loads(path.read_text(encoding="utf-8"))
                )
            elif path.suffix == ".md":
                sentences["page"] = path.read_text(encoding="utf-8").splitlines()
            else:
                facts["output"], sentences["output"], bits = output_facts(path)
    return facts, sentences, bits


def _call_apart(name, folder):
    """In a process of its own: engines leave threads and clusters behind, and PyTorch is large."""
    process = subprocess.run(
        [sys.executable, "-m", "tests.frozen", "call", name],
        capture_output=True,
        check=False,
        cwd=folder,
        env=_environment(),
        timeout=LIMIT,
    )
    if process.returncode:
        raise RuntimeError(f"{name}: {process.stderr.decode()}")
    return json.loads(process.stdout.decode().splitlines()[-1])


def call_here(name):
    """The record of a call, in this process."""
    import warnings

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            facts, sentences, scores = _reduced(CALLS[name].function())
        except Exception as error:  # whatever it is, it is what a caller gets
            facts, sentences, scores = {"error": type(error).__name__}, {"error": str(error)}, None
    # Warnings of other packages come and go with their versions.
    said = sorted({str(w.message) for w in told if w.category.__module__.startswith("odefs")})
    bits = None if scores is None else digest(scores)
    facts = facts if scores is None else facts | {"scores": plain(scores)}
    return {"facts": [facts], "sentences": [sentences | {"warnings": said}], "bits": [bits]}


def _reduced(found):
    """Facts, sentences and scores of a detection, an estimator, or what a call chose itself."""
    if isinstance(found, dict):
        return plain({k: v for k, v in found.items() if k != "scores"}), {}, found.get("scores")
    if hasattr(found, "report"):
        document, sentences = document_facts(json.loads(found.report().json()))
        return (
            {"document": document, "flagged": plain(found.is_outlier.nonzero()[0])},
            sentences,
            found.scores,
        )
    return estimator_facts(found), {}, found.outlier_scores_
