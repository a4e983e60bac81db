"""Balance of computation, memory and communication: the static speedup model of M. Clement.

M. Clement, "Analytical Performance Prediction of Data-Parallel Programs", thesis, Oregon State University, 1994,
chapter 3.

    model       the times on one and on p processors, speedup and utilisation, from counts and normalised costs
    patterns    how the start-ups of a processor depend on the number of processors
    limits      the largest start-up and the least work for each start-up that keep a utilisation (Theorem 3.1)
    shares      which part of a count is divided among the processors

Counts and costs are plain numbers, wherever they come from: a prediction, a machine file or a user.
"""
