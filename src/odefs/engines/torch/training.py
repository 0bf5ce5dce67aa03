"""Training of all components in one batch: the usual draws, then everything else on the device."""

from collections.abc import Sequence

import numpy as np
import torch

from odefs.detectors.lesinn import LeSiNNDetector
from odefs.engines.torch.alternation import learn_batch
from odefs.engines.torch.device import bytes_at_once, in_parts
from odefs.engines.torch.nearest_members import lay_out
from odefs.engines.torch.table import DeviceTable
from odefs.ensemble.component import SampledIndices, prepare_component
from odefs.ensemble.plan import Plan
from odefs.ensemble.trainer import ComponentTrainer, TrainedComponent
from odefs.selection.alternation import LearnedWeights


def trains_in_batches(plan: Plan) -> bool:
    """Whether the plan's solver is the one that runs in lockstep."""
    return plan.solver == "proximal"


def train_batch(
    train: ComponentTrainer, table: DeviceTable, indices: Sequence[int]
) -> list[TrainedComponent]:
    """Train components of the given numbers, as many at a time as fit on the device."""
    assert isinstance(train.detector, LeSiNNDetector)
    # Draws are made on the CPU with the seeds of the components, so that the engines train on the
    # same rows.
    generators = [train.seeds.component(index) for index in indices]
    draws = [train.draw(index, rng) for index, rng in zip(indices, generators, strict=True)]
    found: list[TrainedComponent] = []

    def run(part: slice) -> None:
        found.extend(_train_part(train, table, draws[part], generators[part]))

    n_bytes = _bytes_per_component(draws[0], table.n_columns)
    in_parts(len(draws), bytes_at_once(table.device) // n_bytes, run)
    return found


def _train_part(
    train: ComponentTrainer,
    table: DeviceTable,
    draws: list[SampledIndices],
    generators: list[np.random.Generator],
) -> list[TrainedComponent]:
    examples = table.take(
        np.stack([np.concatenate([draw.outliers, draw.unlabeled]) for draw in draws]), train.scaling
    )
    references = table.take(np.stack([draw.references for draw in draws]), train.scaling)
    assert isinstance(train.detector, LeSiNNDetector)
    laid_out = lay_out(
        examples.to(torch.float64), references.to(torch.float64), train.detector.n_subsets
    )
    # laid_out holds shifted float64 copies; the memory is needed for these.
    del examples
    learned = learn_batch(laid_out, draws[0].outliers.size, train.plan)

    def finish(place: int, result: LearnedWeights) -> TrainedComponent:
        def on_columns(columns: np.ndarray) -> np.ndarray:
            picked = references[place].index_select(1, torch.from_numpy(columns).to(table.device))
            return picked.cpu().numpy()

        rng = generators[place]
        return prepare_component(train.plan, train.detector, result, on_columns, rng), result

    # The arrays are small: threads would wait for each other.
    return [finish(place, result) for place, result in enumerate(learned)]


def _bytes_per_component(draw: SampledIndices, n_columns: int) -> int:
    """Memory for examples, references, squares, three ``G``, distances and intermediate results."""
    n_examples, n_references = draw.outliers.size + draw.unlabeled.size, draw.references.size
    return 8 * (
        8 * n_examples * n_columns + 5 * n_references * n_columns + 3 * n_examples * n_references
    )
