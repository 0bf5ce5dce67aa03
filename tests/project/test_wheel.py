"""One wheel per platform: its name, builds without a compiler, and all installed Pythons."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from building import build_wheel, copy_sources, run
from odefs.kernels.shared_library import PATH
from requirement_files import pins_up_to

KERNEL = f"odefs/kernels/{PATH.name}"

FIT = """
import hashlib, json, sys
import numpy, odefs
from odefs.versions import collect_versions

rng = numpy.random.default_rng(0)
X = rng.normal(size=(2000, 20))
X[:40, :3] += 4
X[rng.random(X.shape) < 0.01] = numpy.nan
model = odefs.ODEFS(random_state=0, n_estimators=8, missing="ignore").fit(X)
versions = collect_versions()
scores = hashlib.sha256(model.outlier_scores_.tobytes()).hexdigest()
print(json.dumps({"python": sys.version_info[:2], "kernel": versions["kernel"], "scores": scores}
    | {name: versions[name] for name in ("numpy", "scipy", "blas")}))
"""


def interpreters():
    """Python versions from 3.11 on in the path or in pyenv: ``{(3, 11): executable}``."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    folders = [Path(sys.executable).parent, *map(Path, os.get_exec_path()), *pyenv.glob("*/bin")]
    found = {}
    for minor in range(11, 20):
        for path in (folder / f"python3.{minor}" for folder in folders):
            if path.is_file() and (3, minor) not in found:
                # What pyenv puts on the path fails for versions that are not chosen.
                check = [path, "-c", "import sys, venv, ssl; print(sys.version_info.releaselevel)"]
                done = subprocess.run(check, capture_output=True, text=True, check=False)
                if done.returncode == 0 and done.stdout.strip() == "final":
                    found[3, minor] = path
    return found


@pytest.mark.slow
def test_the_wheel_is_for_a_platform_and_any_python(built):
    wheel, _ = built
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if name.startswith("odefs/kernels/_kernel")] == [KERNEL]
    *_, python, abi, platform = wheel.stem.split("-")
    assert (python, abi) == ("py3", "none")
    assert platform != "any"


@pytest.mark.slow
def test_every_python_runs_the_kernel_with_the_same_bits(built, tmp_path):
    wheel, _ = built
    pins = tmp_path / "pins.txt"
    pins.write_text("\n".join(pins_up_to("core")))
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("ODEFS_KERNEL", "PYTHONPATH")
    }
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    fits = []
    for (_, minor), executable in interpreters().items():
        env = tmp_path / f"3.{minor}"
        run(executable, "-m", "venv", "--without-pip", env, cwd=tmp_path)
        python = next(
            path
            for path in (env / "bin" / "python", env / "Scripts" / "python.exe")
            if path.exists()
        )
        run(
            *pip,
            "--python",
            python,
            "install",
            "--only-binary=:all:",
            f"--constraint={pins}",
            wheel,
            cwd=tmp_path,
        )
        fits.append(json.loads(run(python, "-c", FIT, cwd=tmp_path, env=environment)))
        assert fits[-1]["python"] == [3, minor]
    print(*fits, sep="\n")
    assert fits
    assert all(fit["kernel"].startswith("compiled") for fit in fits)
    libraries = {tuple(fit[name] for name in ("numpy", "scipy", "blas")) for fit in fits}
    assert len({fit["scores"] for fit in fits}) <= len(libraries), (
        "one set of libraries, one result"
    )


@pytest.fixture
def source_with_leftovers(tmp_path):
    """Sources in which earlier builds left their kernels."""
    source = tmp_path / "source"
    copy_sources(source)
    for folder in ("src", "build/lib", "build/lib.linux-x86_64-cpython-311"):
        for name in ("_kernel.cpython-311-x86_64-linux-gnu.so", PATH.name):
            path = source / folder / "odefs/kernels" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"left over")
    return source


@pytest.mark.slow
def test_a_release_without_the_kernel_is_for_its_platform_only(source_with_leftovers, tmp_path):
    done = build_wheel(
        source_with_leftovers, tmp_path, CC="false", ODEFS_REQUIRE_KERNEL="0", CIBUILDWHEEL="1"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = tmp_path.glob("*.whl")
    *_, python, abi, platform = path.stem.split("-")
    assert (python, abi) == ("py3", "none")
    assert platform != "any"


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["false", "no-such-compiler"])
def test_a_machine_without_a_compiler_installs_and_works(compiler, source_with_leftovers, tmp_path):
    done = build_wheel(source_with_leftovers, tmp_path, CC=compiler, ODEFS_REQUIRE_KERNEL="0")
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = tmp_path.glob("*.whl")
    assert path.stem.endswith("-py3-none-any")
    with zipfile.ZipFile(path) as wheel:
        assert not [name for name in wheel.namelist() if "/_kernel" in name]
        wheel.extractall(tmp_path / "site")
    script = (
        "import numpy, odefs; odefs.ODEFS().fit(numpy.random.rand(300, 4)); odefs.show_versions()"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    environment.pop("ODEFS_KERNEL", None)
    shown = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    assert "numpy (the compiled one was not built)" in shown.stdout


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["false", "no-such-compiler"])
def test_a_build_that_requires_the_kernel_fails_without_it(
    compiler, source_with_leftovers, tmp_path
):
    done = build_wheel(source_with_leftovers, tmp_path, CC=compiler, ODEFS_REQUIRE_KERNEL="1")
    assert done.returncode != 0
    assert not list(tmp_path.glob("*.whl"))
    said = done.stdout + done.stderr
    (sentence,) = {line for line in said.splitlines() if "ODEFS_REQUIRE_KERNEL" in line}
    assert "could not be built" in sentence
    assert "install GCC or Clang" in sentence
