"""Interoperability: PyOD detectors (:mod:`odefs.compat.pyod`) and ONNX files
(:mod:`odefs.compat.onnx`).
"""
