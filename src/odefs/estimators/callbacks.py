"""Progress for scikit-learn's callbacks (``set_callbacks``, as with ``sklearn.callback.ProgressBar``), from scikit-learn 1.9 on.

Older versions have no callbacks: there, estimators have no ``set_callbacks`` and fit as they do without. What ``odefs._progress`` tells becomes tasks: below
``fit`` one for each stretch of work that is counted, below it one for each part that is done. A callback's wish to stop is not followed.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from odefs._progress import listening

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:
    AVAILABLE = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        return method

else:
    AVAILABLE = True

__all__ = ["AVAILABLE", "CallbackSupportMixin", "fit_inside", "managed", "observed"]

Fit = TypeVar("Fit", bound=Callable[..., Any])

MOST_PARTS = 100
"""Work that is counted in rows is told in percent."""


def managed(fit: Fit) -> Fit:
    """``fit``, after which callbacks are torn down, whether it succeeds or not."""
    return cast(Fit, with_callbacks(fit))


def observed(fit: Fit) -> Fit:
    """``fit``, with its progress told to the estimator's callbacks."""
    if not AVAILABLE:
        return fit

    @functools.wraps(fit)
    def observed_fit(self: Any, X: Any, y: Any = None) -> Any:
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        tasks = _Tasks(self, context)
        with listening(tasks):
            fitted = fit(self, X, y)
        tasks.close()
        # Whoever wants the fitted estimator gets it as it is.
        context.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes={})
        return fitted

    return managed(cast(Fit, observed_fit))


def fit_inside(outer: Any, inner: Any, X: Any, y: Any = None) -> Any:
    """Fit an estimator that another one is made of; callbacks of the outer one follow the inner one's progress."""
    if not AVAILABLE:
        return inner.fit(X, y)
    context = outer._init_callback_context(max_subtasks=1)
    context.call_on_fit_task_begin(estimator=outer, X=X, y=y)
    task = context.subcontext(task_name="fit")
    with task.propagate_callback_context(inner):
        task.call_on_fit_task_begin(estimator=outer, X=X, y=y)
        fitted = inner.fit(X, y)
        task.call_on_fit_task_end(estimator=outer, X=X, y=y)
    context.call_on_fit_task_end(estimator=outer, X=X, y=y)
    return fitted


class _Tasks:
    """A listener that turns what it is told into tasks; stretches that are told of only when they are over have none."""

    def __init__(self, estimator: Any, root: Any) -> None:
        self.estimator = estimator
        self.root = root
        self.stretch: Any = None
        self.key = ("", 0)
        self.done = self.reached = self.parts = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self.stretch is not None and ((stage, total) != self.key or done <= self.done):
            self.close()
        if self.stretch is None:
            if done >= total:
                return
            self.key, self.parts, self.reached = (stage, total), min(total, MOST_PARTS), 0
            self.stretch = self.root.subcontext(task_name=stage, max_subtasks=self.parts)
            self.stretch.call_on_fit_task_begin(estimator=self.estimator)
        self.done = done
        for _ in range(self.reached, done * self.parts // total):
            part = self.stretch.subcontext(task_name="part")
            part.call_on_fit_task_begin(estimator=self.estimator)
            part.call_on_fit_task_end(estimator=self.estimator)
            self.reached += 1
        if done >= total:
            self.close()

    def close(self) -> None:
        """End the stretch that is going on, if there is one."""
        if self.stretch is not None:
            self.stretch.call_on_fit_task_end(estimator=self.estimator)
            self.stretch = None
