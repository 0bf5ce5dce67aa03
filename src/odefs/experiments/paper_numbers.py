"""Numbers that the paper reports in its Tables 1 and 2, for comparison."""

TABLE1: dict[str, dict[str, float]] = {
    # dataset: AUC and p@k of the bare detector, columns retained, AUC and p@k of ODEFS
    name: dict(zip(("bare auc", "bare p@k", "d'", "auc", "p@k"), numbers, strict=True))
    for name, numbers in {
        "advertisements": (0.722, 0.445, 48, 0.906, 0.674),
        "aid362": (0.662, 0.017, 32, 0.671, 0.050),
        "apascal": (0.750, 0.000, 14, 0.889, 0.000),
        "bank": (0.597, 0.190, 18, 0.641, 0.275),
        "probe": (0.958, 0.775, 10, 0.965, 0.879),
        "u2r": (0.988, 0.592, 9, 0.991, 0.618),
        "arrhythmia": (0.781, 0.500, 15, 0.814, 0.515),
        "mnist": (0.854, 0.407, 20, 0.904, 0.494),
        "musk": (1.000, 1.000, 24, 1.000, 1.000),
        "optdigits": (0.712, 0.040, 20, 0.818, 0.047),
        "speech": (0.468, 0.016, 58, 0.482, 0.049),
        "census": (0.602, 0.054, 60, 0.701, 0.075),
    }.items()
}

_COLUMNS = ("RandFS", "DisFS", "RegFS", "CINFO", "ODEFS*", "ODEFS-paper")

TABLE2_AUC: dict[str, dict[str, float]] = {
    name: dict(zip(_COLUMNS, numbers, strict=True))
    for name, numbers in {
        "advertisements": (0.735, 0.742, 0.747, 0.856, 0.832, 0.906),
        "aid362": (0.654, 0.648, 0.652, 0.663, 0.649, 0.671),
        "apascal": (0.742, 0.736, 0.752, 0.834, 0.835, 0.889),
        "bank": (0.592, 0.604, 0.605, 0.607, 0.601, 0.641),
        "probe": (0.960, 0.951, 0.958, 0.958, 0.965, 0.965),
        "u2r": (0.995, 0.972, 0.975, 0.989, 0.992, 0.991),
        "arrhythmia": (0.792, 0.765, 0.732, 0.796, 0.801, 0.814),
        "mnist": (0.865, 0.865, 0.842, 0.875, 0.882, 0.904),
        "musk": (1.000, 1.000, 1.000, 1.000, 1.000, 1.000),
        "optdigits": (0.722, 0.721, 0.731, 0.681, 0.712, 0.818),
        "speech": (0.472, 0.465, 0.481, 0.485, 0.480, 0.482),
        "census": (0.638, 0.642, 0.635, 0.642, 0.651, 0.701),
    }.items()
}

TABLE2_P_AT_K: dict[str, dict[str, float]] = {
    name: dict(zip(_COLUMNS, numbers, strict=True))
    for name, numbers in {
        "advertisements": (0.511, 0.522, 0.535, 0.604, 0.588, 0.674),
        "aid362": (0.017, 0.017, 0.017, 0.033, 0.017, 0.050),
        "apascal": (0.000, 0.000, 0.000, 0.000, 0.000, 0.000),
        "bank": (0.189, 0.192, 0.202, 0.228, 0.247, 0.275),
        "probe": (0.774, 0.776, 0.768, 0.773, 0.776, 0.879),
        "u2r": (0.627, 0.592, 0.592, 0.610, 0.605, 0.618),
        "arrhythmia": (0.500, 0.470, 0.439, 0.455, 0.470, 0.515),
        "mnist": (0.416, 0.419, 0.409, 0.427, 0.446, 0.494),
        "musk": (1.000, 1.000, 1.000, 1.000, 1.000, 1.000),
        "optdigits": (0.047, 0.047, 0.033, 0.027, 0.033, 0.047),
        "speech": (0.033, 0.033, 0.033, 0.049, 0.033, 0.049),
        "census": (0.059, 0.059, 0.061, 0.067, 0.068, 0.075),
    }.items()
}


def paper_number(method: str, dataset: str, measure: str) -> float | None:
    """Return the paper's number, or ``None`` if it does not report one."""
    if method == "LeSiNN":
        return TABLE1.get(dataset, {}).get(f"bare {measure}")
    table = {"auc": TABLE2_AUC, "p@k": TABLE2_P_AT_K}.get(measure, {})
    return table.get(dataset, {}).get(method)
