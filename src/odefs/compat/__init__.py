"""Models in other ecosystems: PyOD's detectors (:mod:`odefs.compat.pyod`), ONNX files
(:mod:`odefs.compat.onnx`).
"""
