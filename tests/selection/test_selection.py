"""Certificates of learning: gradients, optimality, agreement of solvers, falling objective."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import naive
from odefs.detectors import LeSiNNDetector
from odefs.ensemble.component import learn_weights
from odefs.ensemble.plan import Plan
from odefs.selection.alternation import select_columns
from odefs.selection.candidates import FEWEST, cantelli_threshold, find_candidates
from odefs.selection.losses import LOSSES
from odefs.selection.objective import RankingObjective, optimality_violation, penalty_prox
from odefs.selection.pacing import Classic, Pace, Thresholded, Unpaced, examples_below
from odefs.selection.solvers import SOLVERS

L1 = 1e-3


def make_objective(loss, seed=0, m_star=12, m=40, d=15):
    rng = np.random.default_rng(seed)
    G_outlier = rng.random((m_star, d))
    G_outlier[:, :3] += 0.7
    return RankingObjective(
        np.concatenate([G_outlier, rng.random((m, d))]), m_star, LOSSES[loss], L1
    )


def solve(solver, objective, v, tol):
    """One component as a batch of one."""
    found = SOLVERS[solver](
        objective.of(None), v[None], np.zeros((1, objective.G.shape[-1])), tol, 20_000
    )
    return found.w[0]


def make_plan(**changes):
    settings = {
        "n_estimators": "auto",
        "n_outlier_examples": "auto",
        "unlabeled_ratio": 6,
        "candidate_threshold": 2.0,
        "loss": "sigmoid",
        "l1": 1e-4,
        "solver": "proximal",
        "tol": 1e-5,
        "self_paced": True,
        "min_weight": 0.05,
        "reference_rows": "fresh",
        "standardize_scores": True,
        "column_weights": "equal",
        "trust": 1.0,
        "n_rounds": 1,
        "normalization_rows": None,
        "damps_noise": False,
    }
    return Plan(**(settings | changes))


@pytest.mark.parametrize("loss", LOSSES)
def test_objective_agrees_with_the_formula(loss):
    objective = make_objective(loss)
    rng = np.random.default_rng(1)
    w, v = rng.random(15), (rng.random(12) < 0.7).astype(float)
    expected = naive.objective(objective.G[:12], objective.G[12:], w, v, 0.3, L1, loss)
    assert objective.value(w, v, 0.3) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_agrees_with_differences(loss):
    objective = make_objective(loss)
    rng = np.random.default_rng(2)
    w, v = rng.random(15), rng.random(12)
    value, gradient = objective.smooth_value_and_gradient(w, v)
    assert value == pytest.approx(objective.value(w, v) - L1 * w.sum())
    slopes = approx_fprime(w, lambda u: objective.smooth_value_and_gradient(u, v)[0], 1e-7)
    np.testing.assert_allclose(gradient, slopes, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_are_first_order_optimal(solver, loss):
    objective = make_objective(loss)
    v = np.ones(12)
    w = solve(solver, objective, v, 1e-7)
    _, gradient = objective.smooth_value_and_gradient(w, v)
    assert (w >= 0).all()
    assert optimality_violation(w, gradient, L1) <= 2e-6


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("loss", "tolerance"), [("logistic", 1e-6), ("hinge", 1e-6), ("sigmoid", 1e-2)]
)
def test_solvers_agree(loss, tolerance, seed):
    """Convex losses have one minimum; with the sigmoid, solvers may find similar ones."""
    objective = make_objective(loss, seed)
    v = np.ones(12)
    values = [objective.value(solve(name, objective, v, 1e-8), v) for name in ("proximal", "lbfgs")]
    assert values[0] == pytest.approx(values[1], rel=tolerance)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_component_is_solved_as_if_alone(solver, loss):
    """Bit for bit, also next to problems of other lengths.

    One ends at once, one never ends in time, and one has scores too far apart for products of
    exponentials.
    """
    objectives = [make_objective(loss, seed) for seed in range(7)]
    stack = RankingObjective(np.stack([one.G for one in objectives]), 12, LOSSES[loss], L1)
    stack.G[1, :12] = stack.G[1, 12:].mean(axis=0)
    stack.G[3] *= 1e4
    v = np.ones((7, 12))
    v[2, ::2] = 0
    start = np.zeros((7, 15))
    start[4:] = 0.3
    together = SOLVERS[solver](stack, v, start, 1e-6, 60)
    assert np.unique(together.n_steps).size > 3
    for order in ([5], [3, 0], [6, 5, 4, 3, 2, 1, 0]):
        places = np.array(order)
        part = SOLVERS[solver](stack.of(places), v[places], start[places], 1e-6, 60)
        for name in ("w", "n_steps", "violation"):
            assert getattr(part, name).tobytes() == getattr(together, name)[places].tobytes(), name


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("self_paced", [True, False, "classic"])
def test_a_component_learns_as_if_alone(loss, self_paced):
    """Bit for bit, whichever components learn beside it, in whatever order."""
    rng = np.random.default_rng(5)
    X = rng.random((300, 13))
    X[:20, :3] += 0.8
    detector = LeSiNNDetector(n_subsets=20, subset_size=8)
    states = [detector.prepare(X[detector.sample(300, rng)], rng) for _ in range(6)]
    rows = [np.concatenate([X[:20], X[rng.choice(300, 77)]]) for _ in range(6)]
    rows[2] = np.tile(X[:1], (97, 1))
    plan = make_plan(loss=loss, self_paced=self_paced, tol=1e-3)

    def learn(order):
        found = learn_weights(
            plan, detector, 20, [rows[i] for i in order], [states[i] for i in order]
        )
        return dict(zip(order, found, strict=True))

    together = learn(range(6))
    assert len({one.n_steps for one in together.values()}) > 2
    for order in ([0], [1], [2], [5, 3], [4, 2, 0]):
        for i, alone in learn(order).items():
            for name, value in vars(alone).items():
                assert (
                    np.asarray(value).tobytes() == np.asarray(getattr(together[i], name)).tobytes()
                ), (order, name)


def test_components_lie_where_blas_gives_the_same_bits():
    """Some BLAS round differently if a matrix starts at an odd multiple of 8 bytes.

    Every second matrix of odd size would.
    """
    G = np.random.default_rng(0).random((5, 7, 3))
    objective = RankingObjective(G, 2, LOSSES["sigmoid"], L1)
    for one in (
        objective,
        objective.of(np.array([3, 1])),
        objective.of(np.array([True, False, True, True, False])),
    ):
        assert all(part.ctypes.data % 16 == 0 for part in one.G)
    assert np.array_equal(objective.of(np.array([3, 1])).G, G[[3, 1]])


def test_proximal_operator_minimises():
    rng = np.random.default_rng(3)
    u = rng.normal(size=6)
    best = penalty_prox(u, 0.4, 0.2)

    def cost(w):
        return 0.4 * 0.2 * w.sum() + ((w - u) ** 2).sum() / 2

    for _ in range(200):
        other = np.maximum(0, best + 0.1 * rng.normal(size=6))
        assert cost(best) <= cost(other) + 1e-12


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("self_paced", [True, False, "classic"])
@pytest.mark.parametrize("scale_loss", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_true_objective_never_rises(loss, self_paced, scale_loss, seed):
    """The trace is the objective with neighbours found again at each ``w``, which may raise it."""
    rng = np.random.default_rng(seed)
    X = rng.random((300, 12))
    X[:20, :3] += 0.8
    detector = LeSiNNDetector(n_subsets=20, subset_size=8)
    state = detector.prepare(X[detector.sample(300, rng)], rng)
    plan = make_plan(loss=loss, self_paced=self_paced, standardize_scores=scale_loss)
    (learned,) = learn_weights(
        plan, detector, 20, [np.concatenate([X[:20], X[rng.choice(300, 120)]])], [state]
    )
    assert len(learned.trace) >= 2
    assert (np.diff(learned.trace) <= 1e-12).all()
    assert learned.loss == learned.trace[-1]


def test_the_traced_objective_is_the_true_one():
    rng = np.random.default_rng(7)
    X = rng.random((200, 6))
    X[:16, 2] += 1
    detector = LeSiNNDetector(n_subsets=10, subset_size=8)
    rows = X[detector.sample(200, rng)]
    state = detector.prepare(rows, rng)
    outliers, unlabeled = X[:16], X[60:160]
    plan = make_plan(standardize_scores=False)
    (learned,) = learn_weights(plan, detector, 16, [np.concatenate([outliers, unlabeled])], [state])
    G_outlier = np.diag(naive.lesinn(outliers, rows, 10, "sqeuclidean", learned.w))
    G_unlabeled = naive.lesinn(unlabeled, rows, 10, "sqeuclidean", learned.w)[:, None]
    # Scores in place of linearised rows: s* = 1 . diag(s*), s = 1 . s.
    losses = [np.mean(1 / (1 + np.exp(s_i - G_unlabeled[:, 0]))) for s_i in G_outlier.diagonal()]
    expected = np.mean(learned.v * (np.array(losses) - learned.lam)) + 1e-4 * learned.w.sum()
    assert learned.loss == pytest.approx(expected, rel=1e-6)


def test_thresholded_age_never_falls_and_keeps_hard_examples_out():
    losses = np.array([0.1, 0.1, 0.2, 0.9])
    pace = Thresholded().first(losses)
    assert pace.lam == pytest.approx(losses.mean() + losses.std())
    assert pace.v.tolist() == [1, 1, 1, 0]
    later = Thresholded().next(losses / 10, pace)
    assert later.lam == pace.lam


def test_at_least_half_of_the_examples_are_kept():
    rng = np.random.default_rng(8)
    for _ in range(200):
        losses = rng.random(32) ** rng.integers(1, 6)
        assert Thresholded().first(losses).v.mean() >= 0.5


@pytest.mark.parametrize("losses", [[0.3, 0.3, 0.3], [0.2, 0.7], [0.5], [1e-300, 0.0]])
def test_rounding_does_not_decide_who_is_kept(losses):
    assert Thresholded().first(np.array(losses)).v.all()


def test_nobody_below_the_age_means_everybody():
    assert examples_below(np.array([0.5, 0.6]), np.array(0.1)).tolist() == [1, 1]


def test_classic_pacing_grows_by_a_fixed_step_until_everyone_is_in():
    losses = np.array([0.1, 0.2, 0.3, 0.9])
    pace = Classic().first(losses)
    assert not pace.settled
    assert not pace.v.all()
    ages = [pace.lam]
    while not pace.settled:
        pace = Classic().next(losses, pace)
        ages.append(pace.lam)
    assert pace.v.all()
    np.testing.assert_allclose(np.diff(ages), ages[1] - ages[0])
    assert Classic().next(losses, pace).lam == pace.lam


def test_unpaced_counts_everyone():
    pace = Unpaced().first(np.array([0.1, 0.9]))
    assert pace.v.all()
    assert Unpaced().next(np.array([0.9, 0.1]), pace) is pace
    assert isinstance(pace, Pace)


def test_candidates_exceed_the_threshold():
    rng = np.random.default_rng(9)
    scores = rng.lognormal(size=2000)
    found = find_candidates(scores, 2.0)
    assert found.threshold == pytest.approx(scores.mean() + 2 * scores.std())
    assert found.rows.tolist() == [i for i in range(2000) if scores[i] > found.threshold]


@pytest.mark.parametrize("n", [3, 10, 40])
def test_too_few_candidates_are_filled_with_the_highest_scores(n):
    scores = np.ones(n)
    scores[-1] = 1.5
    found = find_candidates(scores, 50.0)
    assert found.n_above == 0
    assert found.rows.size == min(FEWEST, n)
    assert n - 1 in found.rows
    assert found.rows[0] == 0


def test_rows_without_a_score_are_no_candidates():
    scores = np.r_[np.nan, np.linspace(0, 1, 50)]
    assert 0 not in find_candidates(scores, 0.5).rows
    assert np.isfinite(cantelli_threshold(scores, 1.0))


def test_subset_rule():
    assert select_columns(np.array([1.0, 0.051, 0.05, 0.0]), 0.05).tolist() == [0, 1]
    assert select_columns(np.zeros(3), 0.05).tolist() == [0, 1, 2]
