"""Counts as closed forms: a second interpretation of the same graph, with free parameters instead of numbers (D10).

`polynomial` has exact expressions, `closing` their sums over loops, `places` layouts and `trips` iterations for free
parameters, `walk` the walk over the graph, and `sampled` the exact interpolation of what is not derived.
"""
