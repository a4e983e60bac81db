"""The Application Abstraction Graph (AAG): the node program as Application Abstraction Units (AAU).

`aau` has the thirteen classes of Parashar and Hariri's Table 1, `build` makes the graph, `counts` its operation
counts, `synchronize` superimposes the communication edges (then it is the Synchronized AAG, SAAG).
"""
