"""Feature selection settings of :class:`odefs.ODEFS`, which most users leave at their defaults."""

from typing import Any, ClassVar, Literal, Self

from odefs._known_options import names_its_parameters
from odefs.detectors.base import METRICS, Metric
from odefs.ensemble.plan import WEIGHT_POWERS
from odefs.models.constraints import Choice, Constraints, Integer, Number, Parameters
from odefs.models.literals import ColumnWeights, Loss, ReferenceRows, Solver
from odefs.selection.losses import LOSSES
from odefs.selection.solvers import SOLVERS

PAPER: dict[str, Any] = {
    "n_outlier_examples": "auto",
    "unlabeled_ratio": 6,
    "candidate_threshold": 2.0,
    "n_rounds": 1,
    "loss": "sigmoid",
    "standardize_scores": False,
    "l1": 1e-4,
    "solver": "proximal",
    "tol": 1e-6,
    "self_paced": True,
    "min_weight": 0.05,
    "column_weights": "equal",
    "metric": "sqeuclidean",
    "reference_rows": "fresh",
    "normalization_rows": None,
}
"""All settings that affect the result, so that new defaults do not change the paper's method."""


class FeatureSelection(Parameters):
    """How :class:`odefs.ODEFS` learns which columns reveal outliers.

    Each component of the ensemble draws outlier candidates and ordinary rows and learns one
    weight per column so that the candidates score higher. These settings control that step. The
    defaults suit most tables; parameters of ``ODEFS`` such as ``trust`` and ``n_estimators`` are
    worth tuning first. ``FeatureSelection.paper()`` has the settings of the paper.

    Parameters
    ----------
    n_outlier_examples : "auto" or int, default="auto"
        Number of outlier candidates that a component learns from (the paper's m*). "auto" takes
        32 for tables of up to 10,000 rows and 64 for larger ones.
    unlabeled_ratio : float, default=6
        Number of other rows per outlier candidate that a component learns from (the paper's
        m / m*).
    candidate_threshold : float, default=2.0
        Rows are outlier candidates if they score above mean + ``candidate_threshold`` * std (the
        paper's a). It only selects the rows to learn from; which rows are reported as outliers
        depends on ``contamination`` of ``ODEFS`` alone.
    n_rounds : int, default=2
        Number of times that candidates are selected and components trained. The first round
        takes the candidates from the scores on all columns, each further round from the mean of
        these and the scores on the columns learned in the round before, on up to 8,192 sampled
        rows. The paper has one round.
    loss : {"sigmoid", "logistic", "hinge"}, default="sigmoid"
        Loss for each pair of a candidate and another row that is ranked wrongly. The paper uses
        the sigmoid and mentions the others; the hinge loss is squared to be smooth.
    standardize_scores : bool, default=True
        Whether scores are divided by their standard deviation before the loss is applied. Raw
        scores grow with the number of columns and saturate the sigmoid. The paper uses raw scores.
    l1 : float, default=1e-4
        Strength of the l1 penalty on the column weights (the paper's theta). Larger values
        select fewer columns.
    solver : {"proximal", "lbfgs"}, default="proximal"
        Optimizer of the column weights. The paper uses stochastic gradient descent.
    tol : float, default=1e-3
        The optimizer stops when the optimality conditions are violated by less than this, and the
        alternation with self-pacing stops when the objective decreases by less. The default is
        larger than ``l1`` and therefore acts as early stopping, which keeps more columns; it ranks
        better on the paper's data. Use 1e-5 if few columns are wanted. Below 1e-5 the weights are
        learned until they satisfy the optimality conditions, in float64 for rows of any type.
        The paper optimizes "until convergence" and gives no value; ``paper()`` uses 1e-6.
    self_paced : True, False or "classic", default=True
        Whether examples that are hard to learn are left out at first (self-paced learning). With
        True, the hardest examples are left out for good; "classic" includes all examples in the
        end; False uses all examples from the start, which is the paper's ODEFS*.
    min_weight : float, default=0.05
        A column is selected if its weight exceeds this fraction of the largest weight (the
        paper's epsilon).
    column_weights : {"root", "learned", "equal"}, default="root"
        How the selected columns are weighted in the final scores: by the square roots of the
        learned weights, by the learned weights, or equally, as in the paper.
    metric : {"euclidean", "sqeuclidean"}, default="euclidean"
        Distance in the scores of ``detector="lesinn"``. The paper uses the squared distance; its
        root ranks better. Training always uses the squared distance, which is linear in the
        column weights.
    reference_rows : {"fresh", "shared"}, default="fresh"
        Whether every component samples reference rows for the detector itself, or all share
        the sample of the scores on all columns. With fresh samples, an unlucky one affects
        one component only.
    normalization_rows : int or None, default=524288
        Number of sampled rows from which the mean score of each component is computed, by which
        its scores are divided. None uses all rows, as in the paper.

    Examples
    --------
    >>> from odefs import ODEFS, FeatureSelection
    >>> model = ODEFS(selection=FeatureSelection(l1=1e-3, tol=1e-5))
    >>> model.set_params(selection__l1=1e-2).selection
    FeatureSelection(l1=0.01, tol=1e-05)
    """

    _constraints: ClassVar[Constraints] = {
        "n_outlier_examples": Choice("auto") | Integer(1),
        "unlabeled_ratio": Number(0, open_low=True),
        "candidate_threshold": Number(0),
        "n_rounds": Integer(1),
        "loss": Choice(*LOSSES),
        "standardize_scores": Choice(True, False),
        "l1": Number(0),
        "solver": Choice(*SOLVERS),
        "tol": Number(0),
        "self_paced": Choice(True, False, "classic"),
        "min_weight": Number(0, 1, open_high=True),
        "column_weights": Choice(*WEIGHT_POWERS),
        "metric": Choice(*METRICS),
        "reference_rows": Choice("fresh", "shared"),
        "normalization_rows": Choice(None) | Integer(1),
    }

    @names_its_parameters
    def __init__(
        self,
        *,
        n_outlier_examples: int | Literal["auto"] = "auto",
        unlabeled_ratio: float = 6,
        candidate_threshold: float = 2.0,
        n_rounds: int = 2,
        loss: Loss = "sigmoid",
        standardize_scores: bool = True,
        l1: float = 1e-4,
        solver: Solver = "proximal",
        tol: float = 1e-3,
        self_paced: bool | Literal["classic"] = True,
        min_weight: float = 0.05,
        column_weights: ColumnWeights = "root",
        metric: Metric = "euclidean",
        reference_rows: ReferenceRows = "fresh",
        normalization_rows: int | None = 524288,
    ) -> None:
        self.n_outlier_examples = n_outlier_examples
        self.unlabeled_ratio = unlabeled_ratio
        self.candidate_threshold = candidate_threshold
        self.n_rounds = n_rounds
        self.loss = loss
        self.standardize_scores = standardize_scores
        self.l1 = l1
        self.solver = solver
        self.tol = tol
        self.self_paced = self_paced
        self.min_weight = min_weight
        self.column_weights = column_weights
        self.metric = metric
        self.reference_rows = reference_rows
        self.normalization_rows = normalization_rows

    def __eq__(self, other: object) -> bool:
        """Equality of all values, so that parameters of estimators can be compared."""
        return type(other) is type(self) and vars(self) == vars(other)

    # Settings are mutable.
    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def paper(cls) -> Self:
        """The settings of the paper, or the closest ones where it gives none."""
        return cls(**PAPER)


class NestedSelection:
    """Nested parameters such as ``selection__l1`` while ``selection`` is None.

    Scikit-learn only resolves nested parameters of objects, and the default cannot be an object,
    because all estimators would share it.
    """

    selection: FeatureSelection | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; ``deep`` includes those of ``selection`` as ``selection__<name>``."""
        parameters: dict[str, Any] = super().get_params(deep)  # type: ignore[misc]
        if deep and self.selection is None:
            defaults = FeatureSelection().get_params()
            parameters |= {f"selection__{name}": value for name, value in defaults.items()}
        return parameters

    def _get_params_html(self, deep: bool = True, *more: object, **options: object) -> object:
        """Parameters in scikit-learn's diagram, which takes those below a default for changed."""
        deep = deep and self.selection is not None
        return super()._get_params_html(deep, *more, **options)  # type: ignore[misc]

    def set_params(self, **parameters: object) -> Self:
        """Set parameters by name, including those of ``selection`` as ``selection__<name>``."""
        nested = any(name.startswith("selection__") for name in parameters)
        if nested and parameters.get("selection", self.selection) is None:
            parameters["selection"] = FeatureSelection()
        found: Self = super().set_params(**parameters)  # type: ignore[misc]
        return found
