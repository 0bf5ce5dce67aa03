"""How far learned subsets are trusted: no further than two measurements on a sample of the rows support.

**Contrast.** Noise columns squeeze all distances together, so a subset without them spreads the scores further relative to their mean. Any small subset does to
some degree, and columns of another kind may too; the gain is therefore taken over random subsets of the same sizes, scored on the same rows.

**Stability.** What is learned is as good as the candidates it is learned from. The full space is scored by two halves of its reference subsets, and each half
names candidates; where the halves do not name the same rows, the candidates are luck.

**Known outliers**, where there are any, may raise the trust and never lower it: components that learned from one half of them are asked about the other half, and
are trusted as far as they place those higher than the full space does.

Both limits of each were chosen on 14 datasets that are not the paper's (``docs/research-log.md``).
"""

from dataclasses import dataclass

import numpy as np

from odefs.selection.candidates import find_candidates

CONTRAST = (1.5, 2.0)
STABILITY = (0.80, 0.93)
KNOWN_GAIN = (-0.02, 0.04)
"""Below the first number nothing is trusted, from the second on everything; in between the share grows evenly, of the contrast in its logarithm."""


@dataclass(frozen=True)
class Trust:
    """Share of the learned subsets in the score. ``contrast`` and ``stability`` are ``None`` where the share was given, ``known_gain`` without known outliers."""

    share: float
    contrast: float | None = None
    stability: float | None = None
    known_gain: float | None = None

    @property
    def message(self) -> str:
        if self.contrast is None or self.stability is None:
            return f"learned subsets have {self.share:.0%} of the score, as asked for."
        return (
            f"learned subsets have {self.share:.0%} of the score: they raise the contrast {self.contrast:.2f} times as much as random subsets "
            f"of the same size, and {self.stability:.0%} of the candidates do not depend on the draw.{self._of_known}"
        )

    @property
    def _of_known(self) -> str:
        if self.known_gain is None:
            return ""
        where = "above" if self.known_gain >= 0 else "below"
        return f" Known outliers that they have not seen stand {abs(self.known_gain):.1%} of the rows {where} their place on all columns."


def measured_trust(contrast: float, stability: float, known_gain: float | None = None) -> Trust:
    share = _between(np.log(contrast), *np.log(CONTRAST)) * _between(stability, *STABILITY)
    if known_gain is not None:
        share = max(share, _between(known_gain, *KNOWN_GAIN))
    return Trust(float(share), float(contrast), float(stability), known_gain)


def contrast_gain(learned: np.ndarray, random: np.ndarray) -> float:
    """Geometric mean over the components of ``std / mean`` of their scores, relative to that of random subsets of the same sizes.

    Both are of shape ``(n_components, n_rows)`` with mean 1. Where neither tells any rows apart nothing is gained.
    """
    ratios = [(a + _TINY) / (b + _TINY) for a, b in zip(learned.std(axis=1), random.std(axis=1), strict=True)]
    return float(np.exp(np.mean(np.log(ratios))))


_TINY = 1e-9


def candidate_stability(half: np.ndarray, other: np.ndarray, rate: float) -> float:
    """How many candidates two scorings of the same rows share, relative to the geometric mean of their numbers."""
    a, b = (find_candidates(scores, rate).rows for scores in (half, other))
    return float(np.intersect1d(a, b).size / np.sqrt(a.size * b.size))


def _between(value: float, low: float, high: float) -> float:
    return float(np.clip((value - low) / (high - low), 0.0, 1.0))
