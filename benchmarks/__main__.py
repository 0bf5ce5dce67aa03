"""Run all benchmarks and write ``docs/performance.md``."""

from pathlib import Path

from benchmarks import block_scoring, kernel, lesinn_speed, start_up
from odefs.versions import collect_versions, processor_name

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


def main() -> None:
    versions = collect_versions()
    used = ", ".join(f"{name} {versions[name]}" for name in ("python", "numpy", "scikit-learn", "blas", "kernel"))
    lines = [
        "# Performance",
        "",
        "Written by `make bench`. Every line is a ratio or a size measured in one run on one machine:",
        f"{processor_name()}, {versions['threads']} threads; {used}.",
        "",
        "| what | measured | target | met |",
        "| --- | --- | --- | --- |",
    ]
    for module in (start_up, kernel, block_scoring, lesinn_speed):
        for result in module.run():
            lines.append(
                f"| {result.what} | {result.measured} | {result.target} | {'yes' if result.met else '**no**'} |"
            )
            print(lines[-1], flush=True)
    PAGE.write_text("\n".join(lines) + "\n")
    print(f"Written to {PAGE}")


if __name__ == "__main__":
    main()
