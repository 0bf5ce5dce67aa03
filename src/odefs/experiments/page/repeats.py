"""Number of repeats behind a section, and the commands that produce its records."""

from collections import defaultdict
from collections.abc import Sequence

from odefs.datasets.registry import BY_NAME
from odefs.experiments.grid import Record
from odefs.experiments.plans import LARGE, REPEATS, SYNTHETIC_ONLY

NOT_TO_BE_HAD = {"speech"}

Range = tuple[int, int]


def counts(records: Sequence[Record]) -> dict[str, Range]:
    """Return the fewest and the most repeats of any method by dataset, without failures.

    Datasets are in the paper's order.
    """
    seeds: dict[tuple[str, str], dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for record in records:
        if "error" not in record:
            job = record["job"]
            seeds[job["dataset"], job["method"]][str(job["options"])].add(job["seed"])
    found: dict[str, list[int]] = defaultdict(list)
    for (dataset, _), by_options in seeds.items():
        found[dataset] += map(len, by_options.values())
    known = [name for name in BY_NAME if name in found]
    return {
        name: (min(found[name]), max(found[name]))
        for name in [*known, *sorted(set(found) - set(known))]
    }


def repeats_sentence(records: Sequence[Record]) -> str:
    """Return a sentence with the usual number of repeats, then the datasets with another number."""
    by_dataset = counts(records)
    ranges = list(by_dataset.values())
    if not ranges:
        return "No repeats."
    usual = max(ranges, key=lambda pair: (ranges.count(pair), pair))
    if not set(by_dataset) & set(BY_NAME):
        usual = min(low for low, _ in ranges), max(high for _, high in ranges)
        by_dataset = {}
    others = [f"{name} {_words(pair)}" for name, pair in by_dataset.items() if pair != usual]
    return f"Repeats: {'; '.join([_words(usual), *others])}."


def _words(pair: Range) -> str:
    low, high = pair
    return str(low) if low == high else f"{low} to {high}"


def commands(experiment: str, records: Sequence[Record], *flags: str) -> str:
    """Return one command per number of repeats.

    Datasets are named unless the command covers all available ones.
    """
    most = {name: high for name, (_, high) in counts(records).items()}
    if experiment in SYNTHETIC_ONLY:
        return _line(experiment, flags, [], max(most.values(), default=REPEATS))
    usual = max((number for name, number in most.items() if name not in LARGE), default=REPEATS)
    groups: dict[int, list[str]] = defaultdict(list)
    for name, number in most.items():
        # A large dataset with all its repeats gets them from the same command as the others.
        groups[max(usual, number) if number == LARGE.get(name, (0,))[0] else number].append(name)
    every = set(BY_NAME) - NOT_TO_BE_HAD
    return "\n".join(
        _line(experiment, flags, [] if every <= set(names) else names, number)
        for number, names in sorted(groups.items(), reverse=True)
    )


def _line(experiment: str, flags: Sequence[str], datasets: Sequence[str], repeats: int) -> str:
    named = [f"--datasets {','.join(datasets)}"] if datasets else []
    number = [f"--repeats {repeats}"] if repeats != REPEATS else []
    return " ".join(["odefs reproduce", experiment, *flags, *named, *number, "-o results"])
