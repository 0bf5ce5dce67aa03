"""Parameters of a model by name, as scikit-learn's estimators have them."""

import inspect
from typing import Any, Self


class Parameters:
    """Gets and sets the arguments of ``__init__``, which are attributes of the same names."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        names = inspect.signature(cls.__init__).parameters
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

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name, those of a parameter as ``<parameter>__<name>``."""
        known = self._get_param_names()
        nested: dict[str, dict[str, Any]] = {}
        for key, value in parameters.items():
            name, mark, inner = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}: it has {', '.join(known)}."
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
        shown = [f"{k}={v!r}" for k, v in given.items() if repr(v) != repr(defaults[k].default)]
        return f"{type(self).__name__}({', '.join(shown)})"
