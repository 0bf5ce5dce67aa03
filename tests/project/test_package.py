"""The package as users get it: built, installed into an empty environment, quick to import."""

import subprocess
import sys
import tarfile
import venv
import zipfile

import pytest

from building import ROOT, run
from command import WITHOUT, messages
from requirement_files import pins_up_to


def constraints(layer, folder):
    path = folder / "pins.txt"
    path.write_text("\n".join(pins_up_to(layer)))
    return f"--constraint={path}"


@pytest.mark.slow
def test_wheel_and_sdist_hold_what_they_should(built):
    wheel, sdist = built
    names = zipfile.ZipFile(wheel).namelist()
    assert "_odefs_start.py" in names
    assert "odefs/py.typed" in names
    assert "odefs/datasets/files/transactions.csv" in names
    assert not [
        name
        for name in names
        if name.startswith(("tests/", "docs/", "benchmarks/")) or name.endswith((".c", ".h"))
    ]
    with tarfile.open(sdist) as archive:
        for kept in (
            "LICENSE",
            "setup.py",
            *(
                f"kernels/{path.name}"
                for path in (ROOT / "src/odefs/kernels").glob("_kernel*.[ch]")
            ),
        ):
            assert any(name.endswith(f"/{kept}") for name in archive.getnames()), kept


def install(package, pins, folder):
    """Install a package with the pins of that name into a new environment; return its Python."""
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(python, *pip, constraints(pins, folder), package, cwd=folder)
    return python


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(built, tmp_path):
    wheel, _ = built
    python = install(f"{wheel}[cli]", "detect", tmp_path)
    shown = run(tmp_path / "env" / "bin" / "odefs", "detect", "-o", "scores.csv", cwd=tmp_path)
    assert "distance_km = 9500.3" in shown
    assert (
        (tmp_path / "scores.csv")
        .read_text()
        .startswith(
            "transaction,row,line,score,rank,percentile,agreement,outlier,kind,reasons,checks\n"
        )
    )
    readme = (ROOT / "README.md").read_text()
    example = readme.split("```python\n")[1].split("```")[0]
    assert "x4" in run(python, "-c", example, cwd=tmp_path)


@pytest.mark.slow
def test_the_core_needs_no_extras(built, tmp_path):
    wheel, _ = built
    python = install(wheel, "core", tmp_path)
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
        script = (
            f"import numpy, odefs; X = numpy.random.rand(50, 3)\ntry: {use}\nexcept "
            "ModuleNotFoundError as error: print(error)"
        )
        assert run(python, "-c", script, cwd=tmp_path).endswith(
            f"not installed: pip install 'odefs[{extra}]'.\n"
        )
    done = subprocess.run(
        [tmp_path / "env" / "bin" / "odefs", "detect"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "pip install 'odefs[cli]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_packages_are_named_with_what_installs_them(tmp_path):
    uses = {
        "odefs.export_onnx(model)": "onnx",
        "import odefs.compat.pyod": "pyod",
        "model.explain(X).to_shap()": "shap",
        "odefs.ODEFS(engine='torch').fit(X)": "gpu",
        "next(odefs.score_batches(model, []))": "stream",
        "from odefs.engines.stream import RowBlocks; RowBlocks.from_parquet('x.parquet')": "stream",
        "from odefs.datasets.synthetic import write_wide; write_wide(Path('x'), 9)": "stream",
        "from odefs.engines.dask import local_client": "dask",
        "odefs.ODEFS(engine='dask').fit(X)": "dask",
        "found.report().html()": "report",
    }
    script = f"""
ABSENT = {{"onnx", "pyod", "shap", "torch", "pyarrow", "dask", "distributed", "jinja2"}}
{WITHOUT}
from pathlib import Path
import numpy, odefs
X = numpy.random.default_rng(0).random((50, 3))
model, found = odefs.LeSiNN().fit(X), odefs.detect(X)
print('<table>' in found._repr_html_(), found)
for use in {list(uses)!r}:
    try: exec(use)
    except ModuleNotFoundError as error: print(error)
"""
    first, *said = run(sys.executable, "-W", "ignore", "-c", script, cwd=tmp_path).splitlines()
    assert first.startswith("True <Detection: 50 rows"), "a notebook shows the first rows"
    assert len(said) == len(uses)
    for line, extra in zip(said, uses.values(), strict=True):
        assert f"pip install 'odefs[{extra}]'" in line


@pytest.mark.parametrize("package", ["click", "polars"])
def test_the_command_line_names_what_it_lacks(package, tmp_path):
    script = (
        f"ABSENT = {{{package!r}}}\n{WITHOUT}\nfrom odefs.cli.main import main\nsys.argv = "
        "['odefs', 'detect']\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 1
    assert f"needs {package}, which is not installed: pip install 'odefs[cli]'" in done.stderr
    assert len(messages(done)) == 1


def loaded_after(statement):
    script = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    return set(run(sys.executable, "-c", script, cwd=ROOT).split())


def test_importing_loads_nothing_heavy():
    loaded = loaded_after("import odefs; odefs.__version__; dir(odefs)")
    assert not loaded & {"numpy", "scipy", "sklearn", "polars", "click", "rich", "pandas"}


def test_help_loads_nothing_heavy():
    script = (
        "sys.argv = ['odefs', '--help']; from odefs.cli.main import main\ntry: main()\nexcept "
        "SystemExit: pass"
    )
    loaded = set(
        run(
            sys.executable, "-c", f"import sys; {script}\nprint('\\n'.join(sys.modules))", cwd=ROOT
        ).split()
    )
    assert not loaded & {"numpy", "scipy", "sklearn", "polars", "rich", "pandas"}


def test_estimators_load_no_extras():
    loaded = loaded_after("from odefs import ODEFS, LeSiNN; ODEFS(); LeSiNN()")
    assert not loaded & {
        "polars",
        "click",
        "rich",
        "matplotlib",
        "torch",
        "dask",
        "pyod",
        "onnx",
        "shap",
    }


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
