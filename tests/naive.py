"""The paper's equations written out slowly and plainly: oracles for the fast code."""

import numpy as np


def distance_squared(x, y, w):
    """``sum_k w_k (x_k - y_k)^2`` over shared columns, divided by their share of the weight."""
    total, covered = 0.0, 0.0
    for x_k, y_k, w_k in zip(x, y, w, strict=True):
        if not (np.isnan(x_k) or np.isnan(y_k)):
            total += w_k * (x_k - y_k) ** 2
            covered += w_k
    return total * sum(w) / covered if covered > 0 else np.inf


def lesinn(X, references, n_subsets, metric, w=None):
    """Mean distance to the nearest member of each subset; references are member-major."""
    w = np.ones(X.shape[1]) if w is None else w
    scores = []
    for x in X:
        nearest = []
        for g in range(n_subsets):
            members = references[g::n_subsets]
            best = min(distance_squared(x, r, w) for r in members)
            if np.isfinite(best):
                nearest.append(best if metric == "sqeuclidean" else np.sqrt(best))
        scores.append(np.mean(nearest) if nearest else np.nan)
    return np.array(scores)


def loss_value(name, z):
    return {
        "sigmoid": lambda: 1 / (1 + np.exp(z)),
        "logistic": lambda: np.log(1 + np.exp(-z)),
        "hinge": lambda: max(0.0, 1 - z) ** 2 / 2,
    }[name]()


def objective(G_outlier, G_unlabeled, w, v, lam, l1, loss):
    """``1/m* sum_i v_i (L_i - lambda) + theta |w|_1`` with ``L_i = 1/m sum_j h(s_i - s_j)``."""
    total = 0.0
    for v_i, g_i in zip(v, G_outlier, strict=True):
        L_i = np.mean([loss_value(loss, g_i @ w - g_j @ w) for g_j in G_unlabeled])
        total += v_i * (L_i - lam)
    return total / len(G_outlier) + l1 * np.abs(w).sum()


def minmax(X):
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1)


def final_scores(component_scores, losses):
    """``sum_i u_i s_i / sum(s_i)`` with ``u = softmax(-loss)``, as printed in the paper."""
    u = np.exp(-np.asarray(losses))
    u = u / u.sum()
    return sum(u_i * s_i / s_i.sum() for u_i, s_i in zip(u, component_scores, strict=True))
