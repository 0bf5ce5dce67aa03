"""The engine on a device, which trains and scores there; statistics stay on the CPU."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from odefs._progress import report_progress
from odefs.detectors.base import Detector
from odefs.detectors.lesinn import LeSiNNDetector
from odefs.engines.in_memory import FEW_ROWS, InMemoryEngine
from odefs.engines.torch.device import bytes_at_once, find_device, in_parts
from odefs.engines.torch.nearest_members import total_shares
from odefs.engines.torch.scorer import Scorer, companion_scores
from odefs.engines.torch.scoring import bytes_per_row
from odefs.engines.torch.table import DTYPES, DeviceTable
from odefs.engines.torch.training import train_batch, trains_in_batches
from odefs.ensemble.engine import KnownRawScores, KnownTotals
from odefs.ensemble.model import Component, Model, RowScores, from_rows, n_outputs
from odefs.ensemble.trainer import ComponentTrainer, TrainedComponent
from odefs.kernels.duplicate_rows import repeats_likely
from odefs.scaling import Scaling

MOST_BLOCK_ROWS = 2**18
"""Larger blocks are not faster."""


class TorchEngine(InMemoryEngine):
    """A complete dense table, LeSiNN as detector."""

    def __init__(self, X: np.ndarray, n_jobs: int | None = None, device: str | None = None) -> None:
        super().__init__(X, n_jobs)
        self.device = find_device(device)

    @cached_property
    def table(self) -> DeviceTable:
        repeats = self.n_rows >= FEW_ROWS and repeats_likely(lambda rows: self.X[rows], self.n_rows)
        return DeviceTable(self.X, self.dtype, self.device, repeats, self._places)

    def raw_scores(
        self, scaling: Scaling, detector: Detector, components: Sequence[Component]
    ) -> np.ndarray:
        return self.table.spread(
            self._raw_scores(scaling, DTYPES[self.dtype], detector, components)
        )

    def judged(self, model: Model, known: KnownTotals | None = None) -> RowScores:
        lines = self._numbers((n_outputs(model), self.table.n_rows))

        def add(places: slice) -> None:
            part = model.scoring[places]
            raw = self._raw_scores(model.scaling, DTYPES[model.dtype], model.detector, part)
            weights = self._tensor([component.weight for component in part])
            means = self._tensor([component.normaliser for component in part])
            limits = [component.threshold or 0.0 for component in part] if len(lines) > 1 else None
            self._add(lines, raw, means, limits, weights)

        self._in_groups(len(model.scoring), add)
        judged = from_rows(self.table.spread(lines))
        self._apply_answers(model, judged.scores)
        return judged

    def _apply_answers(self, model: Model, scores: np.ndarray) -> None:
        """Change scores of the components by what answers add to them."""
        answers = model.answers
        if answers is None:
            return

        def apply(rows: slice, X: np.ndarray) -> None:
            answers.apply(X, scores[rows])

        self.sweep(apply, model.scaling, model.dtype, 8 * answers.draws.n_references)

    def _add(
        self,
        lines: Tensor,
        raw: Tensor,
        means: Tensor,
        thresholds: list[float] | None,
        weights: Tensor,
    ) -> None:
        """Add the scores and, with thresholds, the weights of components above their threshold.

        Nothing is added before everything is computed: after running out of memory it is repeated.
        """
        found = [torch.mv(raw.t(), weights / means)]
        if thresholds is not None:
            above = raw / means[:, None] > self._tensor(thresholds)[:, None]
            found.append(torch.mv(above.to(torch.float64).t(), weights))
        for line, more in zip(lines, found, strict=True):
            line += more

    def _numbers(self, shape: tuple[int, ...]) -> Tensor:
        return torch.zeros(shape, dtype=torch.float64, device=self.device)

    def _tensor(self, values: list[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float64, device=self.device)

    def score_and_normalise(
        self,
        detector: Detector,
        scaling: Scaling,
        components: Sequence[Component],
        rows: np.ndarray | None,
        rate: float | None = None,
        known: KnownRawScores | None = None,
    ) -> tuple[list[Component], RowScores]:
        counts = self.table.counts(rows)
        # Distinct rows are scored once and weighted by how often they occur.
        counts /= counts.sum()
        lines = self._numbers((1 if rate is None else 2, self.table.n_rows))
        frozen: list[Component] = []

        def freeze(places: slice) -> None:
            part = components[places]
            raw = self._raw_scores(scaling, DTYPES[self.dtype], detector, part)
            means = torch.mv(raw, counts)
            means = torch.where(means > 0, means, 1.0)
            weights = self._tensor([component.weight for component in part])
            found = [
                replace(one, normaliser=mean)
                for one, mean in zip(part, means.tolist(), strict=True)
            ]
            thresholds = None if rate is None else _thresholds(raw / means[:, None], counts, rate)
            if thresholds is not None:
                found = [
                    replace(one, threshold=limit)
                    for one, limit in zip(found, thresholds, strict=True)
                ]
            self._add(lines, raw, means, thresholds, weights)
            # Last: if memory runs out before, the same components are tried again in smaller groups
            # and must not be there twice.
            frozen.extend(found)

        self._in_groups(len(components), freeze)
        return frozen, from_rows(self.table.spread(lines))

    def total_contributions(self, model: Model, rows: np.ndarray) -> list[np.ndarray]:
        assert isinstance(model.detector, LeSiNNDetector)
        # total_shares has no version for companions.
        if any(one.detector is not None for one in model.scoring):
            return super().total_contributions(model, rows)
        try:
            X = self.table.take(rows, model.scaling)
            found = total_shares(X, model.scoring, model.detector.metric == "euclidean")
        except torch.cuda.OutOfMemoryError:
            return super().total_contributions(model, rows)
        # Where expanded squares have too few digits, the CPU computes the shares.
        left = [one for one, shares in zip(model.scoring, found, strict=True) if shares is None]
        by_processor = iter(
            super().total_contributions(replace(model, components=tuple(left)), rows)
            if left
            else ()
        )
        return [
            next(by_processor) if shares is None else one.weight / one.normaliser * shares
            for one, shares in zip(model.scoring, found, strict=True)
        ]

    def train(self, trainer: ComponentTrainer, indices: Sequence[int]) -> list[TrainedComponent]:
        if not trains_in_batches(trainer.plan):
            return super().train(trainer, indices)
        return train_batch(trainer, self.table, indices)

    def _in_groups(self, n_components: int, task: Callable[[slice], None]) -> None:
        """Run ``task`` on groups of components whose raw scores fit into memory."""
        # Four float64 arrays of the raw scores' size: scores, scores divided by the means, and the
        # comparison with the thresholds as booleans and as numbers.
        in_parts(n_components, bytes_at_once(self.device) // (4 * 8 * self.table.n_rows), task)

    def _raw_scores(
        self,
        scaling: Scaling,
        dtype: torch.dtype,
        detector: Detector,
        components: Sequence[Component],
    ) -> Tensor:
        """Raw scores of the distinct rows, ``(n_components, n_rows)``."""
        assert isinstance(detector, LeSiNNDetector)
        table = self.table
        by_distance = [i for i, one in enumerate(components) if one.detector is None]
        companions = [i for i, one in enumerate(components) if one.detector is not None]
        scorer = Scorer(detector, [components[i] for i in by_distance], self.n_columns, self.device)
        out = torch.empty((len(components), table.n_rows), dtype=torch.float64, device=self.device)

        def score(rows: slice) -> None:
            block = table.block(rows, scaling, dtype)
            if by_distance:
                out[by_distance, rows] = scorer.score(block)
            for i in companions:
                out[i, rows] = companion_scores(block, components[i])
            report_progress(rows.stop, table.n_rows)

        height = bytes_at_once(self.device) // bytes_per_row(
            detector, self.n_columns, len(components)
        )
        in_parts(table.n_rows, min(MOST_BLOCK_ROWS, height), score)
        return out


def _thresholds(scores: Tensor, shares: Tensor, rate: float) -> list[float]:
    """``mean + rate * std`` of each component's scores, rows weighted by ``shares``."""
    means = torch.mv(scores, shares)
    spread = torch.mv((scores - means[:, None]).square_(), shares).sqrt_()
    found: list[float] = (means + rate * spread).tolist()
    return found
