"""Isospeed scalability: how the work must grow so that each processor keeps its speed.

X.-H. Sun and J. Zhu, "Performance Prediction: A Case Study Using a Scalable Shared-Virtual-Memory Machine", IEEE
Parallel & Distributed Technology 4 (4), 1996; X.-H. Sun and D. Rover, IEEE TPDS 5 (6), 1994.

    isospeed    the definitions: average unit speed, scalability, the work that keeps a speed, time from scalability
    rates       seconds for each unit of what a run does, from a few runs, by least squares
    search      the smallest size from which on a speed lasts
    crossing    where one of two programs overtakes the other as the system grows

Work is the number of floating-point operations of the best sequential program; speed is work over time and
processors. All of this is arithmetic on works and times, wherever they come from: runs, predictions or a model.
"""
