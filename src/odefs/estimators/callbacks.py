"""Scikit-learn callbacks such as ``sklearn.callback.ProgressBar`` (scikit-learn 1.9 or newer).

With older versions, estimators have no ``set_callbacks``. Progress of ``odefs._progress`` becomes
tasks: below ``fit`` one task per stage, below it one per finished part. Requests of a callback to
stop the fit are ignored.

``sklearn.callback`` is imported only when a callback is set, because it imports Rich.
"""

import functools
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from odefs._progress import listening

if TYPE_CHECKING:
    from sklearn.callback import CallbackContext

AVAILABLE = find_spec("sklearn.callback") is not None

MOST_PARTS = 100
"""Maximum number of tasks per stage: stages that count rows report percentages."""

Fit = TypeVar("Fit", bound=Callable[..., Any])

if AVAILABLE:

    class CallbackSupport:
        """``sklearn.callback.CallbackSupportMixin``, imported on first use."""

        def set_callbacks(self, *callbacks: object) -> Self:
            """Set scikit-learn callbacks that follow the progress of ``fit``.

            Without arguments, all callbacks are removed.

            Parameters
            ----------
            *callbacks : sklearn.callback.FitCallback
            """
            from sklearn.callback import CallbackSupportMixin

            CallbackSupportMixin.set_callbacks(self, *callbacks)
            return self

else:

    class CallbackSupport:  # type: ignore[no-redef]
        """Empty base class for scikit-learn versions without callbacks."""


def observed(fit: Fit) -> Fit:
    """Decorate ``fit`` to report its progress to the callbacks of the estimator."""

    @functools.wraps(fit)
    def observed_fit(
        self: CallbackSupport, X: object, y: object = None, *further: object, **named: object
    ) -> object:
        if not _has_callbacks(self):
            return fit(self, X, y, *further, **named)
        return _managed(
            _fit_with_tasks,
            self,
            lambda estimator, X, y: fit(estimator, X, y, *further, **named),
            X,
            y,
        )

    return cast(Fit, observed_fit)


def fit_inside(outer: CallbackSupport, inner: Any, X: object, y: object = None) -> Any:
    """Fit an inner estimator and report its progress to the callbacks of the outer one."""
    if not _has_callbacks(outer):
        return inner.fit(X, y)
    return _managed(_fit_inner_with_tasks, outer, inner, X, y)


def _has_callbacks(estimator: CallbackSupport) -> bool:
    """Whether the estimator, or one that it is part of, has callbacks."""
    # Private attributes of scikit-learn 1.9: a public check would import sklearn.callback, and Rich
    # with it.
    return AVAILABLE and not vars(estimator).keys().isdisjoint(
        {"_skl_callbacks", "_parent_callback_ctx"}
    )


def _managed(fit: Callable[..., Any], estimator: CallbackSupport, *arguments: object) -> object:
    """Call ``fit`` and tear the callbacks down afterwards, even if it fails."""
    from sklearn.callback import with_callbacks

    return with_callbacks(fit)(estimator, *arguments)


def _started(
    estimator: CallbackSupport, max_subtasks: int | None, X: object, y: object
) -> "CallbackContext":
    from sklearn.callback import CallbackSupportMixin

    context = CallbackSupportMixin._init_callback_context(estimator, max_subtasks=max_subtasks)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    return context


def _fit_with_tasks(
    estimator: CallbackSupport, fit: Callable[..., Any], X: object, y: object
) -> object:
    context = _started(estimator, None, X, y)
    tasks = _Tasks(estimator, context)
    with listening(tasks):
        fitted = fit(estimator, X, y)
    tasks.close()
    # No attributes to reconstruct: callbacks that ask for the fitted estimator get it as it is.
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes={})
    return fitted


def _fit_inner_with_tasks(outer: CallbackSupport, inner: Any, X: object, y: object) -> object:
    context = _started(outer, 1, X, y)
    task = context.subcontext(task_name="fit")
    with task.propagate_callback_context(inner):
        task.call_on_fit_task_begin(estimator=outer, X=X, y=y)
        fitted = inner.fit(X, y)
        task.call_on_fit_task_end(estimator=outer, X=X, y=y)
    context.call_on_fit_task_end(estimator=outer, X=X, y=y)
    return fitted


class _Tasks:
    """Progress listener that creates tasks; stages first reported at their end have none."""

    def __init__(self, estimator: CallbackSupport, root: "CallbackContext") -> None:
        self.estimator = estimator
        self.root = root
        self.stage_task: CallbackContext | None = None
        self.key = ("", 0)
        self.done = self.reached = self.parts = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        # Stages have no explicit end: another name, another total or a count that does not grow
        # starts the next one.
        if self.stage_task is not None and ((stage, total) != self.key or done <= self.done):
            self.close()
        if self.stage_task is None:
            if done >= total:
                return
            self.key, self.parts, self.reached = (stage, total), min(total, MOST_PARTS), 0
            self.stage_task = self.root.subcontext(task_name=stage, max_subtasks=self.parts)
            self.stage_task.call_on_fit_task_begin(estimator=self.estimator)
        self.done = done
        for _ in range(self.reached, done * self.parts // total):
            part = self.stage_task.subcontext(task_name="part")
            part.call_on_fit_task_begin(estimator=self.estimator)
            part.call_on_fit_task_end(estimator=self.estimator)
            self.reached += 1
        if done >= total:
            self.close()

    def close(self) -> None:
        """End the task of the current stage, if there is one."""
        if self.stage_task is not None:
            self.stage_task.call_on_fit_task_end(estimator=self.estimator)
            self.stage_task = None
