"""Parameters of a model by name, and constraints on their values.

Every estimator declares its parameters once, as a mapping from names to constraints. ``fit``
checks the values with it and takes the error message from it, and a test compares it with the
documentation.
"""

import inspect
import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from odefs._known_options import suggestion


class Constraint:
    """A set of allowed values; its ``str`` completes the message "The value is not ..."."""

    def allows(self, value: object) -> bool:
        raise NotImplementedError

    def convert(self, value: object) -> object:
        """Convert an allowed value to a plain Python object."""
        return value

    def __or__(self, other: "Constraint") -> "Constraint":
        return Either(self, other)


Constraints = Mapping[str, Constraint]


class Choice(Constraint):
    """One of several values; types are compared as well, since ``True == 1``."""

    def __init__(self, *values: str | bool | None) -> None:
        self.values = values

    def allows(self, value: object) -> bool:
        value = self.convert(value)
        # isinstance first: comparing an array with a word returns an array.
        return any(isinstance(value, type(choice)) and value == choice for choice in self.values)

    def convert(self, value: object) -> object:
        # Grid searches over arrays pass NumPy's booleans.
        return bool(value) if isinstance(value, np.bool_) else value

    def __str__(self) -> str:
        listed = ", ".join(map(repr, self.values))
        return listed if len(self.values) == 1 else f"one of {listed}"


@dataclass(frozen=True)
class Integer(Constraint):
    """A Python or NumPy integer, but not a boolean."""

    low: int | None = None

    def allows(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            return False
        return self.low is None or int(value) >= self.low

    def convert(self, value: Any) -> int:
        return int(value)

    def __str__(self) -> str:
        return "a whole number" + ("" if self.low is None else f" of at least {self.low}")


@dataclass(frozen=True)
class Number(Constraint):
    """A finite number in an interval, which includes its bounds unless they are open."""

    low: float
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    def allows(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return False
        try:
            number = float(value)
        except OverflowError:  # integers beyond the range of floats
            return False
        above = number > self.low if self.open_low else number >= self.low
        below = number < self.high if self.open_high else number <= self.high
        return above and below and math.isfinite(number)

    def convert(self, value: Any) -> float:
        return float(value)

    def __str__(self) -> str:
        ends = (
            "(" if self.open_low else "[",
            ")" if self.open_high or math.isinf(self.high) else "]",
        )
        return f"a number in {ends[0]}{self.low:g}, {self.high:g}{ends[1]}"


@dataclass(frozen=True)
class Satisfies(Constraint):
    """Values that pass a test; ``text`` describes them."""

    test: Callable[[object], bool]
    text: str

    def allows(self, value: object) -> bool:
        return self.test(value)

    def __str__(self) -> str:
        return self.text


class Either(Constraint):
    """Union of two constraints."""

    def __init__(self, first: Constraint, second: Constraint) -> None:
        self.first, self.second = first, second

    def allows(self, value: object) -> bool:
        return self.first.allows(value) or self.second.allows(value)

    def convert(self, value: object) -> object:
        return (self.first if self.first.allows(value) else self.second).convert(value)

    def __str__(self) -> str:
        return f"{self.first} or {self.second}"


def random_state_of(seed: Any) -> np.random.RandomState:
    """Generator of a ``random_state`` parameter; None is NumPy's global one."""
    if seed is None or seed is np.random:
        # As sklearn.utils.check_random_state, which is not imported here: it takes most of the
        # start.
        return np.random.mtrand._rand
    return seed if isinstance(seed, np.random.RandomState) else np.random.RandomState(seed)


def _seeds_a_generator(value: object) -> bool:
    if value is None or isinstance(value, np.random.RandomState) or value is np.random:
        return True
    return Integer(0).allows(value) and not Integer(2**32).allows(value)


RANDOM_STATE = Satisfies(
    _seeds_a_generator, "None, a whole number from 0 to 4294967295 or a numpy.random.RandomState"
)


def checked(holder: object, constraints: Constraints) -> dict[str, object]:
    """Parameters of an object as plain values; raises ``ValueError`` if one is not allowed."""
    values = {}
    for name, constraint in constraints.items():
        value = getattr(holder, name)
        if not constraint.allows(value):
            raise ValueError(f"{name}={value!r} is not {constraint}.")
        values[name] = constraint.convert(value)
    return values


class Parameters:
    """Gets and sets the arguments of ``__init__``, which are attributes of the same names."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        names = inspect.signature(cls.__init__).parameters
        # Sorted, as in scikit-learn.
        return sorted(name for name in names if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep`` also those of parameters that have some themselves."""
        found: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{key}": inner for key, inner in value.get_params().items()}
            found[name] = value
        return found

    def set_params(self, **parameters: object) -> Self:
        """Set parameters by name, those of a parameter as ``<parameter>__<name>``."""
        known = self._get_param_names()
        nested: dict[str, dict[str, Any]] = {}
        for key, value in parameters.items():
            name, mark, inner = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}.{suggestion(name, known)} "
                    f"It has {', '.join(known)}."
                )
            if mark:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
        for name, values in nested.items():
            value = getattr(self, name)
            if not hasattr(value, "set_params"):
                raise ValueError(f"{name}={value!r} has no parameters of its own.")
            value.set_params(**values)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = {name: getattr(self, name) for name in self._get_param_names()}
        # By repr, since arrays and NaN do not compare to a single boolean.
        shown = [f"{k}={v!r}" for k, v in given.items() if repr(v) != repr(defaults[k].default)]
        return f"{type(self).__name__}({', '.join(shown)})"
