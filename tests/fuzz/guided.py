"""Coverage-guided fuzzing with atheris: ``python -m tests.fuzz.guided models`` or ``csv``.

Run from the root of the repository; options of libFuzzer may follow. It starts with the kept
corpus, stores what reaches new code in ``build/fuzz``, and stops at the first finding, which it
writes there. Without options it runs for ten minutes. Needs ``requirements/fuzz.txt``.
"""

import random
import sys
import tempfile
from pathlib import Path

import atheris

WORK = Path("build/fuzz")
DEFAULTS = {"max_total_time": 600, "max_len": 2**17, "timeout": 30, "rss_limit_mb": 1000}
"""Half a minute, because instrumented code is slower; the limit of 5 s is that of ``mutate``."""


def main(kind: str, options: list[str]) -> None:
    with atheris.instrument_imports(include=["odefs"]):
        from importlib import import_module

        for name in (
            "odefs.baselines",
            "odefs.report",
            "odefs.report.markdown",
            "odefs.tables.writers.files",
        ):
            import_module(name)
        from . import targets
    from .model_bytes import repaired
    from .mutate import MUTATE

    files = targets.seeds(kind)
    corpus = WORK / f"corpus-{kind}"
    corpus.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (corpus / name).write_bytes(content)
    path = Path(tempfile.mkdtemp(prefix="odefs-fuzz-")) / f"file{targets.ENDINGS[kind]}"

    def try_one(content: bytes) -> None:
        path.write_bytes(content)
        targets.judge(targets.USES[kind], path)

    def mutate(content: bytes, longest: int, seed: int) -> bytes:
        """Half of the time by the format, otherwise blindly, mostly with a corrected checksum.

        Without a valid checksum nothing behind it is reached.
        """
        rng = random.Random(seed)
        if rng.random() < 0.5:
            return MUTATE[kind](rng, content, rng.choice(list(files.values())))[:longest]
        blind = bytes(atheris.Mutate(content, longest))
        return repaired(blind) if kind == "models" and rng.random() < 0.9 else blind

    given = {option.split("=")[0].lstrip("-") for option in options}
    chosen = [f"-{name}={value}" for name, value in DEFAULTS.items() if name not in given]
    places = [f"-artifact_prefix={WORK}/{kind}-", str(corpus)]
    atheris.Setup([sys.argv[0], *chosen, *options, *places], try_one, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("models", "csv"):
        sys.exit("usage: python -m tests.fuzz.guided {models,csv} [options of libFuzzer]")
    main(sys.argv[1], sys.argv[2:])
