"""Outputs do not depend on hash seed, locale, time zone, working directory or odd file names."""

import os
import shutil
import subprocess
import sys

import pytest

from command import messages, odefs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="locales are made with localedef"),
]

PLAIN = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
SINGLE = {
    "hash seed 1": {"PYTHONHASHSEED": "1"},
    "hash seed at random": {"PYTHONHASHSEED": "random"},
    "German": {"LC_ALL": "de_DE.UTF-8"},
    "Turkish": {"LC_ALL": "tr_TR.UTF-8"},
    "Latin 1": {"LC_ALL": "de_DE.ISO-8859-1", "PYTHONUTF8": "0"},
    "ASCII": ASCII,
    "Newfoundland": {"TZ": "America/St_Johns"},
    "India": {"TZ": "Asia/Kolkata"},
}
TOGETHER = {
    "far away": {"PYTHONHASHSEED": "1", "LC_ALL": "tr_TR.UTF-8", "TZ": "America/St_Johns"},
    "ASCII in India": {"PYTHONHASHSEED": "random", "TZ": "Asia/Kolkata", **ASCII},
}
NAME = "täble.csv"


@pytest.fixture(scope="module")
def table():
    """Dates around daylight saving changes, locale-dependent letters, decimal commas and points."""
    lines = ["zeit,gr\u00f6\u00dfe,\u0130I,preis,anteil,ja"]
    for i in range(90):
        month = 3 if i % 2 else 10
        word = ("gr\u00fcn", "TITLE", "title", "\u0131i")[i % 4]
        price = f"{i % 7}.{i:03},5"
        lines.append(
            f'2024-{month:02}-{25 + i % 7} 0{i % 4}:30,{word},{(i * 13) % 11},"{price}",{i % 9}.5 '
            f"%,{i % 2 == 0}"
        )
    lines.append('2031-03-31 02:30,rot,900,"9.999,5",99 %,True')
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def locales(tmp_path_factory):
    """Locales made for the test; without them, the program falls back to C."""
    folder = tmp_path_factory.mktemp("locales")
    if shutil.which("localedef"):
        for language, charset in (("de_DE", "UTF-8"), ("tr_TR", "UTF-8"), ("de_DE", "ISO-8859-1")):
            line = [
                "localedef",
                "-c",
                "-i",
                language,
                "-f",
                charset,
                str(folder / f"{language}.{charset}"),
            ]
            subprocess.run(line, check=False, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def leaves(table, locales, tmp_path_factory):
    """A function from settings to what the commands leave in a folder that is new each time."""

    def run(settings, *score):
        cwd = tmp_path_factory.mktemp("surroundings") / ("a" * len(str(settings)))
        cwd.mkdir()
        # By its bytes, whatever the locale of the test.
        name = os.fsdecode(NAME.encode())
        (cwd / name).write_text(table, encoding="utf-8")
        environment = {**PLAIN, "LOCPATH": str(locales), **settings}
        line = (
            "detect",
            name,
            "-o",
            "o.csv",
            "--save",
            "m.odefs",
            "--report",
            "r.html",
            "--set",
            "n_estimators=3",
        )
        done = odefs(*line, "--quiet", cwd=cwd, **environment)
        assert (done.returncode, messages(done)) == (0, [])
        if score:
            done = odefs(
                "score",
                "m.odefs",
                name,
                "-o",
                "o.parquet",
                "--report",
                "r.json",
                "--quiet",
                cwd=cwd,
                **environment,
            )
            assert (done.returncode, messages(done)) == (0, [])
        return {
            path.name: path.read_bytes()
            for path in cwd.iterdir()
            if path.suffix in (".odefs", ".html", ".json", ".parquet") or path.name == "o.csv"
        }

    return run


@pytest.fixture(scope="module")
def plain(leaves):
    return leaves(PLAIN)


@pytest.mark.parametrize("name", TOGETHER)
def test_everything_changed_at_once(name, leaves, plain):
    found = leaves(TOGETHER[name])
    assert found.keys() == {"o.csv", "m.odefs", "r.html"}
    assert [file for file in found if found[file] != plain[file]] == []


@pytest.mark.slow
def test_one_thing_changed(leaves):
    before = leaves(PLAIN, "score")
    assert len(before) == 5
    differ = {
        name: {
            file for file, content in leaves(settings, "score").items() if content != before[file]
        }
        for name, settings in SINGLE.items()
    }
    # In Latin 1 the bytes of the table's name are other letters, and these files contain its name.
    named = {"m.odefs", "r.html", "r.json"}
    assert differ.pop("Latin 1") <= named
    assert not any(differ.values()), differ


def test_a_name_that_is_no_text(tmp_path, table):
    """A Latin 1 file name in a UTF-8 system, as on old disks: read, written and reported."""
    name = os.fsdecode(b"t\xe4ble.csv")
    (tmp_path / name).write_text(table, encoding="utf-8")
    output = os.fsdecode(b"o\xe4.parquet")
    done = odefs(
        "detect", name, "-o", output, "--set", "n_estimators=2", "--quiet", cwd=tmp_path, **PLAIN
    )
    assert (done.returncode, messages(done)) == (0, [])
    page = os.fsdecode(b"t\xe4ble.outliers.html")
    assert {path.name for path in tmp_path.iterdir()} == {name, output, page}
    assert "t\ufffdble.csv" in (tmp_path / page).read_text(encoding="utf-8")
    assert (tmp_path / output).read_bytes()[:4] == b"PAR1"
