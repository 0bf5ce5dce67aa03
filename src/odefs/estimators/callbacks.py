"""Progress for scikit-learn's callbacks (``set_callbacks``, as with ``sklearn.callback.ProgressBar``), from scikit-learn 1.9 on.

Older versions have no callbacks: there, estimators have no ``set_callbacks`` and fit as they do without. What ``odefs._progress`` tells becomes tasks: below
``fit`` one for each stretch of work that is counted, below it one for each part that is done. A callback's wish to stop is not followed.

``sklearn.callback`` is imported when a callback is set, not before: it brings Rich along.
"""

import functools
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Self, TypeVar, cast

from odefs._progress import listening

AVAILABLE = find_spec("sklearn.callback") is not None

MOST_PARTS = 100
"""Work that is counted in rows is told in percent."""

Fit = TypeVar("Fit", bound=Callable[..., Any])

if AVAILABLE:

    class CallbackSupport:
        """``sklearn.callback.CallbackSupportMixin``, loaded when it is used."""

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set scikit-learn's callbacks, which follow the progress of ``fit``; without any, remove those that are set.

            Parameters
            ----------
            *callbacks : sklearn.callback.FitCallback
            """
            from sklearn.callback import CallbackSupportMixin

            CallbackSupportMixin.set_callbacks(self, *callbacks)
            return self

else:

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing to support."""


def observed(fit: Fit) -> Fit:
    """``fit``, with its progress told to the estimator's callbacks."""

    @functools.wraps(fit)
    def observed_fit(self: Any, X: Any, y: Any = None, *further: Any, **named: Any) -> Any:
        if not _is_followed(self):
            return fit(self, X, y, *further, **named)
        return _managed(
            _fit_told, self, lambda estimator, X, y: fit(estimator, X, y, *further, **named), X, y
        )

    return cast(Fit, observed_fit)


def fit_inside(outer: Any, inner: Any, X: Any, y: Any = None) -> Any:
    """Fit an estimator that another one is made of; callbacks of the outer one follow the inner one's progress."""
    return (
        _managed(_fit_inside_told, outer, inner, X, y) if _is_followed(outer) else inner.fit(X, y)
    )


def _is_followed(estimator: Any) -> bool:
    """Whether there are callbacks, of the estimator or of one that it is part of."""
    return AVAILABLE and not vars(estimator).keys().isdisjoint(
        {"_skl_callbacks", "_parent_callback_ctx"}
    )


def _managed(fit: Callable[..., Any], estimator: Any, *arguments: Any) -> Any:
    """Tear callbacks down afterwards, whether the fit succeeds or not."""
    from sklearn.callback import with_callbacks

    return with_callbacks(fit)(estimator, *arguments)


def _started(estimator: Any, max_subtasks: int | None, X: Any, y: Any) -> Any:
    from sklearn.callback import CallbackSupportMixin

    context = CallbackSupportMixin._init_callback_context(estimator, max_subtasks=max_subtasks)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    return context


def _fit_told(estimator: Any, fit: Callable[..., Any], X: Any, y: Any) -> Any:
    context = _started(estimator, None, X, y)
    tasks = _Tasks(estimator, context)
    with listening(tasks):
        fitted = fit(estimator, X, y)
    tasks.close()
    # Whoever wants the fitted estimator gets it as it is.
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes={})
    return fitted


def _fit_inside_told(outer: Any, inner: Any, X: Any, y: Any) -> Any:
    context = _started(outer, 1, X, y)
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
