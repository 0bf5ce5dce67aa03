"""The compiled kernel, built where there is a compiler. Everything else about the package stands in pyproject.toml.

The library is loaded with ctypes and needs no Python header. Where it cannot be built, the installation goes on without it.
"""

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class BuildKernel(build_ext):
    """Builds a plain shared library: it has no module initialiser to export."""

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return list(ext.export_symbols)


FOLDER = "src/odefs/_ops"

setup(
    cmdclass={"build_ext": BuildKernel},
    ext_modules=[
        Extension(
            "odefs._ops._kernel",
            [f"{FOLDER}/_kernel.c"],
            depends=[
                f"{FOLDER}/_kernel_{part}.h"
                for part in ("isa", "body", "one_row", "choices", "tiles", "tile_rows", "tile_steps", "tile_packing")
            ],
            extra_compile_args=[
                "-std=gnu11",
                "-O3",
                "-ffp-contract=fast",
                # From version 13 on GCC leaves some sums of products unfused, in one loop and not in another: rows would have other bits alone than in a crowd.
                "--param=avoid-fma-max-bits=0",
                "-fno-math-errno",
                "-fvisibility=hidden",
            ],
            optional=True,
        )
    ],
)
