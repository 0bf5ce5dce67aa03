"""The kernel from other compilers and for other systems: flags, exports, and results."""

import os
import re
import runpy
import shutil
import sys
from types import SimpleNamespace

import pytest
from setuptools import Distribution, Extension
from setuptools.errors import CompileError

from building import ROOT, copy_sources, run
from odefs.kernels.shared_library import FUNCTIONS

SETUP = runpy.run_path(str(ROOT / "setup.py"), run_name="setup")
FOLDER = ROOT / "src" / "odefs" / "kernels"

WINDOWS = "x86_64-w64-mingw32-gcc"
ARM = "aarch64-linux-gnu-gcc"
RUNNERS = {
    "gcc": [],
    "clang": [],
    ARM: ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"],
    WINDOWS: ["wine"],
}
"""What runs a compiler's programs."""

LEVELS = {WINDOWS: {"portable", "sse2"}, ARM: {"portable", "neon"}}
"""Instruction sets that every processor of a system has."""


def needs(compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")


def test_flags_follow_the_compiler_not_its_name(tmp_path):
    """GCC and Clang are told apart behind any name, and what is neither is refused."""
    for compiler, is_gcc in (("gcc", True), ("clang", False)):
        if shutil.which(compiler):
            wrapper = tmp_path / f"cc-{compiler}"
            wrapper.write_text(f'#!/bin/sh\nexec {compiler} "$@"\n')
            wrapper.chmod(0o755)
            flags = SETUP["flags_for"]([str(wrapper)])
            assert any(flag.startswith("--param") for flag in flags) == is_gcc
            assert "-ffp-contract=fast" in flags
    for neither in ("false", "no-such-compiler"):
        with pytest.raises(CompileError, match=neither):
            SETUP["flags_for"]([neither])


@pytest.mark.parametrize("required", ["", "1"])
def test_microsofts_compiler_is_refused_with_another_one_named(required, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ODEFS_REQUIRE_KERNEL", required)
    command = SETUP["BuildKernel"](Distribution())
    command.ensure_finalized()
    command.compiler = SimpleNamespace(compiler_type="msvc")
    with pytest.raises(SystemExit if required else CompileError, match="MinGW-w64"):
        command.build_extension(Extension(SETUP["KERNEL"], []))


@pytest.mark.slow
@pytest.mark.parametrize("compiler", RUNNERS)
def test_the_kernel_computes_the_formula(compiler, tmp_path):
    """Without Python, so that kernels for other systems can run in an emulator."""
    needs(compiler)
    program = tmp_path / "check.exe"
    source = ROOT / "tests" / "kernel_check.c"
    run(
        compiler,
        *SETUP["flags_for"]([compiler]),
        "-I",
        FOLDER,
        source,
        "-o",
        program,
        "-lm",
        cwd=tmp_path,
    )
    runner = RUNNERS[compiler]
    if runner and shutil.which(runner[0]) is None:
        return
    home = {"WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all"}
    shown = run(*runner, program, cwd=tmp_path, env={**os.environ, **home})
    levels = dict(line.split() for line in shown.splitlines())
    assert LEVELS.get(compiler, {"portable"}) <= set(levels)
    assert set(levels.values()) == {"0"}


@pytest.mark.slow
def test_the_library_for_windows_exports_what_is_bound(tmp_path):
    needs(WINDOWS)
    library = tmp_path / "_kernel.dll"
    flags = [*SETUP["flags_for"]([WINDOWS]), "-Wall", "-Wextra", "-Werror"]
    run(WINDOWS, *flags, "-shared", FOLDER / "_kernel.c", "-o", library, cwd=tmp_path)
    shown = run(WINDOWS.replace("gcc", "objdump"), "-p", library, cwd=tmp_path)
    table = shown.split("[Ordinal/Name Pointer] Table")[1].split("\n\n")[0]
    assert set(re.findall(r"\bodefs_\w+", table)) == set(
        re.findall(r"\] +(?:\+base\[ *\d+\] +\w+ +)?(\w+)", table)
    )
    assert set(re.findall(r"\bodefs_\w+", table)) == set(FUNCTIONS)
    # Nothing that only the machine with the compiler has.
    needed = {name.lower() for name in re.findall(r"DLL Name: (\S+)", shown)}
    assert all(
        re.fullmatch(r"kernel32\.dll|msvcrt\.dll|ucrtbase\.dll|api-ms-win-crt-.*", name)
        for name in needed
    )


@pytest.mark.slow
def test_clang_builds_a_kernel_that_passes_the_same_tests(tmp_path):
    needs("clang")
    copy_sources(tmp_path)
    library = tmp_path / "src" / "odefs" / "kernels" / "_kernel.so"
    flags = [*SETUP["flags_for"](["clang"]), "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    run("clang", *flags, FOLDER / "_kernel.c", "-o", library, "-lm", cwd=tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    shown = run(
        sys.executable, "-c", "import odefs; print(odefs.__file__)", cwd=tmp_path, env=environment
    )
    assert shown.startswith(str(tmp_path))
    tests = ["tests/kernels/test_kernel.py"]
    options = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist"]
    run(sys.executable, "-m", "pytest", *options, *tests, cwd=tmp_path, env=environment)
