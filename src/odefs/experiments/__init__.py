"""The paper's evaluation: methods x datasets x repeats as a grid of small jobs, and the tables and
figures made of their results.
"""
