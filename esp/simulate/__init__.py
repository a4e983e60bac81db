"""Programs with MPI that count what they do, on a simulated machine.

Counters are put into the text of a program: each says how often a piece of it runs. What a piece does once, by
operation class, is read from the same text (`operations`). On the simulated machine, a program computes for as long as
its counts take with the figures of that machine; nothing of this comes from a prediction, so a prediction can be held
against it: by its counts, and by its time on a machine whose figures are not those that the prediction had.
"""
