"""Build of the compiled kernel and the wheel tag; pyproject.toml defines everything else.

The kernel is a plain shared library loaded by ctypes: it does not use Python headers and works with
every version of Python, so there is one wheel per platform (``py3-none-<platform>``). If it cannot
be built, the installation continues without it (``py3-none-any``); ``ODEFS_REQUIRE_KERNEL=1`` makes
that an error.
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError, CompileError

KERNEL = "odefs.kernels._kernel"
FOLDER = "src/odefs/kernels"
SUFFIX = ".dll" if sys.platform == "win32" else ".so"
"""Must match the file name in ``odefs.kernels.shared_library``."""

# -ffp-contract=fast is the default of GCC but not of Clang. -fno-math-errno lets square roots be
# single instructions, -g0 overrides the debug symbols that Python's own flags often ask for, and
# -fvisibility=hidden exports only the functions that are marked in the source.
FLAGS = ["-std=gnu11", "-O3", "-g0", "-ffp-contract=fast", "-fno-math-errno", "-fvisibility=hidden"]

GCC_FLAGS = [
    # From version 13 on, GCC fuses multiply-adds in some loops but not in others: the score of a
    # row would differ in its last bits between scoring it alone and with other rows.
    "--param=avoid-fma-max-bits=0",
]

MINGW_FLAGS = [
    # GCC does not align the stack for AVX on Windows: let the assembler replace aligned moves by
    # unaligned ones.
    "-Wa,-muse-unaligned-vector-move",
]


def is_required() -> bool:
    return os.environ.get("ODEFS_REQUIRE_KERNEL", "").strip().lower() not in (
        "",
        "0",
        "no",
        "false",
    )


def flags_for(compiler: list[str]) -> list[str]:
    """The flags for a compiler, identified by its predefined macros.

    Its name (``cc``, a path, a wrapper) does not identify it reliably.
    """
    try:
        asked = subprocess.run(
            [*compiler, "-dM", "-E", "-x", "c", "-"], input="", capture_output=True, text=True
        )
    except OSError as error:
        raise CompileError(
            f"the C compiler '{compiler[0]}' cannot be run: {error.strerror}"
        ) from error
    macros = {line.split()[1] for line in asked.stdout.splitlines() if line.startswith("#define ")}
    if asked.returncode or "__GNUC__" not in macros:
        raise CompileError(f"'{' '.join(compiler)}' is neither GCC nor Clang")
    flags = list(FLAGS)
    if "__clang__" not in macros:
        flags += GCC_FLAGS
        if "__MINGW32__" in macros:
            flags += MINGW_FLAGS
    return flags


class BuildKernel(build_ext):
    """Builds a plain shared library, without a module initializer and not linked with Python."""

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return list(ext.export_symbols)

    def get_libraries(self, ext: Extension) -> list[str]:
        return list(ext.libraries)

    def get_ext_filename(self, fullname: str) -> str:
        """File name without the Python version tag."""
        return os.path.join(*fullname.split(".")) + SUFFIX

    def build_extension(self, ext: Extension) -> None:
        built = Path(self.get_ext_fullpath(ext.name))
        # Earlier releases had the Python version in the file name.
        for folder in {built.parent, Path(FOLDER)}:
            for leftover in (*folder.glob("_kernel.*.so"), *folder.glob("_kernel.*.pyd")):
                leftover.unlink()
        try:
            if self.compiler.compiler_type == "msvc":
                raise CompileError(
                    "Microsoft's C compiler lacks the vector extensions that the kernel uses; "
                    "use GCC of MinGW-w64 instead (build_ext --compiler=mingw32)"
                )
            # The compiler may have a wrapper in front (ccache gcc): everything before the first
            # option.
            command = [part for part in self.compiler.compiler_so if part]
            options = (i for i, part in enumerate(command) if part.startswith("-"))
            ext.extra_compile_args = flags_for(command[: next(options, len(command))])
            super().build_extension(ext)
        except (BaseError, CCompilerError) as error:
            # A kernel from an earlier build does not match these sources.
            for stale in (built, Path(FOLDER, built.name)):
                stale.unlink(missing_ok=True)
            if is_required():
                raise SystemExit(
                    f"odefs: the compiled kernel could not be built ({error}), and "
                    "ODEFS_REQUIRE_KERNEL requires it: install GCC or Clang, or unset "
                    "ODEFS_REQUIRE_KERNEL to install without the kernel."
                ) from error
            # setuptools turns this into a warning, because the extension is optional.
            raise


class PlatformWheel(bdist_wheel):
    """One wheel for all Python versions, and for all platforms if the kernel could not be built.

    Release builds are always tagged for their platform: pip prefers a wheel for all platforms to
    the sdist, so machines that could build the kernel would not get it.
    """

    def run(self) -> None:
        if not self.skip_build:
            self.run_command("build")
        built = self.get_finalized_command("build_ext")
        has_kernel = os.path.exists(built.get_ext_fullpath(KERNEL))
        self.root_is_pure = not has_kernel and os.environ.get("CIBUILDWHEEL") != "1"
        if self.root_is_pure:
            # Otherwise all modules would be installed as platform-specific.
            self.distribution.ext_modules = None
        super().run()

    def get_tag(self) -> tuple[str, str, str]:
        python, abi, platform = super().get_tag()
        return (python, abi, platform) if self.root_is_pure else ("py3", "none", platform)


if __name__ == "__main__":
    setup(
        cmdclass={"build_ext": BuildKernel, "bdist_wheel": PlatformWheel},
        ext_modules=[
            Extension(
                KERNEL,
                [f"{FOLDER}/_kernel.c"],
                depends=sorted(map(str, Path(FOLDER).glob("_kernel*.h"))),
                optional=True,
            )
        ],
    )
