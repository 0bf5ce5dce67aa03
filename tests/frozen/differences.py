"""Differences between two records of a run, and runs that should have identical scores."""

RELATIVE, ABSOLUTE = 2e-4, 1e-6
"""Kernels and instruction sets agree to 5 digits in float32, sums of scores to a little less."""


def differences(before, after, path=""):
    """Triples of a path in the record, the value before and the value after."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            where = f"{path}.{key}" if path else key
            yield from differences(before.get(key, "(absent)"), after.get(key, "(absent)"), where)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{path}.length", len(before), len(after)
        for k, pair in enumerate(zip(before, after, strict=False)):
            yield from differences(*pair, f"{path}[{k}]")
    elif not _alike(before, after):
        yield path, before, after


def _alike(before, after):
    if (
        _is_number(before)
        and _is_number(after)
        and isinstance(before, float) | isinstance(after, float)
    ):
        return abs(before - after) <= max(ABSOLUTE, RELATIVE * max(abs(before), abs(after)))
    return type(before) is type(after) and before == after


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def run_differences(before, after, sentences=False):
    """Of two records of one run; none where a package is missing on either side."""
    if "skipped" in before or "skipped" in after:
        return
    for part in ("facts", "sentences") if sentences else ("facts",):
        yield from differences(before[part], after[part], part)


def bit_table(runs, records):
    """One line for each run that should have the scores of another: bits, flags and facts."""
    first = {}
    for run in runs:
        record = records.get(run.name, {"skipped": ""})
        if "skipped" in record:
            continue
        if run.group not in first:
            first[run.group] = run, record
            continue
        reference, other = first[run.group]
        pairs = [(a, b) for a, b in zip(other["bits"], record["bits"], strict=True) if a or b]
        bits = (
            "no scores"
            if not pairs
            else "bit-equal"
            if all(a == b for a, b in pairs)
            else "DIFFERENT"
        )
        apart = sum(1 for _ in differences(other["facts"], record["facts"]))
        yield (
            f"{run.name:<40} {reference.name:<40} {bits:<10} {_furthest(other, record):>9.1e} "
            f"{apart:>5}"
        )


def _furthest(one, other):
    """The largest relative difference of two scores, as far as six digits tell."""
    pairs = [
        pair
        for a, b in zip(one["facts"], other["facts"], strict=True)
        for pair in zip(_scores(a), _scores(b), strict=False)
    ]
    return max((abs(a - b) / max(abs(a), abs(b), 1e-12) for a, b in pairs), default=0.0)


def _scores(facts):
    found = facts.get("output", facts).get("scores", [])
    return found if isinstance(found, list) else []
