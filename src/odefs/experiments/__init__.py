"""The paper's evaluation: a grid of small jobs (methods x datasets x repeats), with tables and
figures of their results.
"""
