"""Tables of other libraries: tensors, arrays of the array API standard and Arrow batches.

They are converted to NumPy arrays and Arrow tables, which everything else accepts.
"""

from typing import Any

import numpy as np


def local_table(X: Any) -> Any:
    """Return tensors and arrays as NumPy arrays and Arrow batches as tables, the rest unchanged.

    Tensors of PyTorch are copied from their device. Arrays of other libraries on another device
    raise a ``TypeError``.
    """
    if isinstance(X, np.ndarray):
        return X
    # By attributes, so that torch is not imported for tables of other libraries.
    if hasattr(X, "detach") and hasattr(X, "layout"):
        return _tensor(X)
    if _is_array(X):
        return _array(X)
    if hasattr(X, "__arrow_c_array__") and hasattr(X, "num_columns"):
        import pyarrow as pa

        return pa.Table.from_batches([pa.record_batch(X)])
    return X


def _is_array(X: Any) -> bool:
    """Whether this is an array of a library that follows the standard, and not a data frame."""
    has_protocol = hasattr(X, "__array_namespace__") or hasattr(X, "__dlpack__")
    # Looked at last: a lazy frame would have to run its query to know its columns.
    return has_protocol and not (hasattr(X, "columns") or hasattr(X, "column_names"))


def _tensor(X: Any) -> np.ndarray:
    if str(X.device) == "meta":
        raise TypeError("the tensor is on the device 'meta', which stores no values.")
    if str(X.layout) != "torch.strided":
        raise TypeError(
            f"the tensor has the layout {X.layout}: pass X.to_dense(), or a matrix of SciPy."
        )
    found = X.detach().cpu()
    if str(found.dtype) == "torch.bfloat16":  # which NumPy lacks, and float32 holds exactly
        found = found.float()
    # Tensors may be lazy views of their conjugate or negative, which numpy() refuses.
    return np.asarray(found.resolve_conj().resolve_neg().numpy())


def _array(X: Any) -> np.ndarray:
    try:
        return np.asarray(X)
    except (TypeError, RuntimeError, ValueError, BufferError) as error:
        device = getattr(X, "device", "unknown")
        raise TypeError(
            f"the array of {type(X).__module__.partition('.')[0]} on the device {device} cannot be "
            "read as a NumPy array: copy it to the main memory first."
        ) from error
