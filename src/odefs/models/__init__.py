"""The models behind the estimators: parameters, fit, scores and files, without scikit-learn.

The path from a file to an answer needs nothing else. :mod:`odefs.estimators` makes scikit-learn
estimators of these classes.
"""
