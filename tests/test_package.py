"""The package as strangers get it: built, installed into an empty environment, run from elsewhere; quick to import."""

import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from requirement_files import pins_up_to

ROOT = Path(__file__).parent.parent


def run(*command, cwd, **kwargs):
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False, **kwargs
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheel and sdist, built from a copy of the tracked and new files so that the tree stays clean."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    names = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=ROOT).split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source, cwd=out)
    return next(out.glob("*.whl")), next(out.glob("*.tar.gz"))


def constraints(layer, folder):
    path = folder / "pins.txt"
    path.write_text("\n".join(pins_up_to(layer)))
    return f"--constraint={path}"


@pytest.mark.slow
def test_wheel_and_sdist_hold_what_they_should(built):
    wheel, sdist = built
    names = zipfile.ZipFile(wheel).namelist()
    assert "odefs/py.typed" in names
    assert "odefs/datasets/files/transactions.csv" in names
    assert not [
        name for name in names if name.startswith(("tests/", "docs/", "benchmarks/")) or name.endswith((".c", ".h"))
    ]
    if any(map(shutil.which, ("cc", "gcc", "clang"))):
        assert [name for name in names if name.startswith("odefs/_ops/_kernel.") and name.endswith((".so", ".pyd"))]
    with tarfile.open(sdist) as archive:
        for kept in (
            "LICENSE",
            "setup.py",
            "_ops/_kernel.c",
            "_ops/_kernel_isa.h",
            "_ops/_kernel_body.h",
            "_ops/_kernel_one_row.h",
            "_ops/_kernel_choices.h",
        ):
            assert any(name.endswith(f"/{kept}") for name in archive.getnames()), kept


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(built, tmp_path):
    wheel, _ = built
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    pins = constraints("detect", tmp_path)
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", pins, f"{wheel}[cli]", cwd=tmp_path)
    shown = run(tmp_path / "env" / "bin" / "odefs", "detect", "-o", "scores.csv", cwd=tmp_path)
    assert "distance_km = 9500.3" in shown
    assert (
        (tmp_path / "scores.csv").read_text().startswith("transaction,row,line,score,rank,agreement,outlier,reasons\n")
    )
    readme = (ROOT / "README.md").read_text()
    example = readme.split("```python\n")[1].split("```")[0]
    assert "x4" in run(python, "-c", example, cwd=tmp_path)


@pytest.mark.slow
def test_the_core_needs_no_extras(built, tmp_path):
    wheel, _ = built
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    pins = constraints("core", tmp_path)
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", pins, wheel, cwd=tmp_path)
    run(
        python,
        "-c",
        "import numpy, odefs; odefs.ODEFS().fit(numpy.random.rand(300, 4)); odefs.show_versions()",
        cwd=tmp_path,
    )
    for use, extra in (
        ("odefs.export_onnx(odefs.LeSiNN().fit(X))", "onnx"),
        ("import odefs.compat.pyod", "pyod"),
        ("odefs.LeSiNN().fit(X).explain(X).to_shap()", "shap"),
    ):
        script = f"import numpy, odefs; X = numpy.random.rand(50, 3)\ntry: {use}\nexcept ModuleNotFoundError as error: print(error)"
        assert run(python, "-c", script, cwd=tmp_path).endswith(f"not installed: pip install 'odefs[{extra}]'.\n")
    done = subprocess.run([tmp_path / "env" / "bin" / "odefs", "detect"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'pip install "odefs[cli]"' in done.stderr
    assert "Traceback" not in done.stderr


def loaded_after(statement):
    script = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    return set(run(sys.executable, "-c", script, cwd=ROOT).split())


def test_importing_loads_nothing_heavy():
    loaded = loaded_after("import odefs; odefs.__version__; dir(odefs)")
    assert not loaded & {"numpy", "scipy", "sklearn", "polars", "click", "rich", "pandas"}


def test_help_loads_nothing_heavy():
    script = "sys.argv = ['odefs', '--help']; from odefs.cli.main import main\ntry: main()\nexcept SystemExit: pass"
    loaded = set(run(sys.executable, "-c", f"import sys; {script}\nprint('\\n'.join(sys.modules))", cwd=ROOT).split())
    assert not loaded & {"numpy", "scipy", "sklearn", "polars", "rich", "pandas"}


def test_estimators_load_no_extras():
    loaded = loaded_after("from odefs import ODEFS, LeSiNN; ODEFS(); LeSiNN()")
    assert not loaded & {"polars", "click", "rich", "matplotlib", "torch", "dask", "pyod", "onnx", "shap"}


def test_unknown_names_are_attribute_errors():
    import odefs

    with pytest.raises(AttributeError, match="nonsense"):
        _ = odefs.nonsense
    assert set(dir(odefs)) >= {"ODEFS", "LeSiNN", "ODEFSWarning", "show_versions"}


def test_show_versions(capsys):
    import odefs

    odefs.show_versions()
    shown = capsys.readouterr().out
    assert "numpy" in shown
    assert "kernel" in shown


def test_the_bundled_example_is_what_its_script_writes(tmp_path):
    from odefs.datasets.transactions import transactions_path, truth_path, write_files

    write_files(tmp_path)
    for path in (transactions_path(), truth_path()):
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()
