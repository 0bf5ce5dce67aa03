"""What tests of PyOD 0.5.0 import from PyOD and scikit-learn under names that are gone.

Copied as ``conftest.py`` next to these tests, which are run as they are.
"""

import sys
import types
import unittest

import numpy as np
import pyod.utils.data

CASE = unittest.TestCase()
ASSERTIONS = {
    "assert_equal": CASE.assertEqual,
    "assert_greater": CASE.assertGreater,
    "assert_greater_equal": CASE.assertGreaterEqual,
    "assert_less_equal": CASE.assertLessEqual,
    "assert_raises": CASE.assertRaises,
    "assert_true": CASE.assertTrue,
    "assert_allclose": np.testing.assert_allclose,
    "assert_array_less": np.testing.assert_array_less,
}


def supply() -> None:
    """Define the module of assertions, and the former order of generated tables."""
    module = types.ModuleType("sklearn.utils.testing")
    module.__dict__.update(ASSERTIONS)
    sys.modules[module.__name__] = module
    generate = pyod.utils.data.generate_data

    def generate_data(**options):
        X_train, X_test, y_train, y_test = generate(**options)
        return X_train, y_train, X_test, y_test

    pyod.utils.data.generate_data = generate_data
