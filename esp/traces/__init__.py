"""Traces: what each processor did and when, as predicted or as executed, in one format (docs/trace.md).

trace       a trace in memory: columns of NumPy arrays
text        trace -> text
read        text -> trace, every line checked
record      the trace that a prediction implies
"""
