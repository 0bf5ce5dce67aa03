"""Words that the parameters of the estimators accept, as types for checkers of user code.

``engine`` stays text: it may name any device, as in ``"torch:cuda:1"``.
"""

from typing import Literal

DetectorName = Literal["auto", "lesinn", "coupling", "relations", "tails", "iforest"]
Scaling = Literal["robust", "damped", "rootstd", "minmax", "none"]
NoiseColumns = Literal["damp", "keep"]
Missing = Literal["error", "ignore"]
FlagRule = Literal["auto", "paper"]
NumberRule = Literal["auto", "paper"]
Loss = Literal["sigmoid", "logistic", "hinge"]
Solver = Literal["proximal", "lbfgs"]
ColumnWeights = Literal["root", "learned", "equal"]
ReferenceRows = Literal["fresh", "shared"]
