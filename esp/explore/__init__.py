"""Explore one program with many predictions: compare distributions, what-ifs and sweeps.

    compare    the sensible DISTRIBUTE choices, ranked
    whatif     one change of the machine or of the compiler at a time, and which lines it moves
    sweep      any of these, sizes, processors and machines, crossed

All of it reads predictions and the API; nothing here knows how a time comes about.
"""
