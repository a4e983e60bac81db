"""The definitions of isospeed scalability (Sun and Zhu, Equations 1 to 4).

Throughout: work in flop, times in seconds, speeds in flop/s, `rate` in seconds for each flop of one processor without
any overhead (tau). `overhead_s` is the degradation of parallelism T0: the time on p processors beyond work x rate / p.
"""


def average_speed(work: float, processors: float, time_s: float) -> float:
    """The speed of each processor on average (a, Equation 7)."""
    return work / (processors * time_s)


def overhead(work: float, processors: float, time_s: float, rate: float) -> float:
    """The degradation of parallelism T0: what a run takes longer than its work, evenly shared, would."""
    return time_s - work * rate / processors


def scalability(processors: float, work: float, more: float, scaled_work: float) -> float:
    """psi(p, p') = p' W / (p W') (Equation 1): 1 where work need only grow as the system does, below 1 where it must
    grow faster. `more`, `scaled_work`: p' and the work W' that keeps the average speed on p'."""
    return more * work / (processors * scaled_work)


def scaled_work(speed: float, processors: float, overhead_s: float, rate: float) -> float:
    """The work that keeps an average speed on so many processors (Equation 2).

    Raises:
        ValueError: no work does, as one processor alone is not faster than that.
    """
    if speed * rate >= 1:
        raise ValueError("one processor without overhead is not faster than the average speed that is to be kept")
    return speed * processors * overhead_s / (1 - speed * rate)


def predicted_scalability(work: float, processors: float, speed: float, scaled_overhead_s: float, rate: float) -> float:
    """psi from the overhead of the scaled problem on the larger system (Equation 3)."""
    return work * (1 - speed * rate) / (processors * speed * scaled_overhead_s)


def scaled_time(time_s: float, psi: float) -> float:
    """The time of the scaled problem on the larger system (Equation 4)."""
    return time_s / psi
