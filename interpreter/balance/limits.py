"""What keeps a utilisation: the largest start-up and the least work for each start-up (Theorem 3.1, generalised).

From u(p) >= u and the model follows

    C_c <= (T_1 (1/u - 1) - (p - 1) C_phi X_s - p C_phi X_lambda) / (p X(p))

for every X(p). Theorem 3.1 is the case u = 1/2, X(p) = X_c.
"""

from math import copysign, inf

from interpreter.balance.model import Costs, Workload, startups_on, time_on_one, utilisation


def largest_startup(work: Workload, costs: Costs, processors: float, least: float) -> float:
    """The largest C_c with which so many processors have a utilisation of at least `least`.

    Returns:
        Infinity where there is no communication and the utilisation is reached. Below 0 where no start-up is cheap
        enough: sequential work and loops alone prevent it.

    Raises:
        ValueError: the utilisation is not between 0 and 1, there is less than one processor, or no work.
    """
    spare = _spare(work, costs, processors, least)
    startups = startups_on(work, processors)
    if startups == 0:
        return copysign(inf, spare)
    return spare / (processors * startups)


def highest_utilisation(work: Workload, costs: Costs, processors: float) -> float:
    """u(p) on a machine whose start-ups cost nothing: what sequential work and loops leave.

    Raises:
        ValueError: there is less than one processor, or no work.
    """
    free = Costs(operation=costs.operation, miss=costs.miss, startup=0.0)
    return utilisation(work, free, processors)


def grain(work: Workload, processors: float) -> float:
    """Operations of each processor for each of its start-ups; infinity without communication.

    Raises:
        ValueError: there is less than one processor.
    """
    startups = startups_on(work, processors)
    return work.operations / (processors * startups) if startups else inf


def least_grain(work: Workload, costs: Costs, processors: float, least: float) -> float:
    """The least grain with which so many processors have a utilisation of at least `least`.

    Parallel operations and misses grow together; start-ups, sequential work and loops stay as they are.

    Returns:
        0 without communication, infinity where nothing can grow.

    Raises:
        ValueError: the utilisation is not between 0 and 1, there is less than one processor, or no work.
    """
    spare = _spare(work, costs, processors, least)
    startups = startups_on(work, processors)
    if not startups:
        return 0.0
    alone = time_on_one(work, costs)
    needed = alone + (processors * costs.startup * startups - spare) * least / (1 - least)
    sequential = costs.operation * work.sequential
    if not (alone > sequential and work.parallel > 0):
        return inf
    grown = max(0.0, (needed - sequential) / (alone - sequential))
    return (work.sequential + grown * work.parallel) / (processors * startups)


def grain_of(operation: float, startup: float, least: float) -> float:
    """The operations for each start-up that keep a utilisation where nothing else takes time.

    >>> grain_of(4.0, 5880.0, 0.5)
    1470.0

    Args:
        operation: cost of an operation with its misses.
        startup: cost of a start-up.
        least: the utilisation.
    """
    return startup / operation * least / (1 - least)


def _spare(work: Workload, costs: Costs, processors: float, least: float) -> float:
    """The time that all processors together may spend on start-ups.

    Raises:
        ValueError: see above.
    """
    if not 0 < least < 1:
        raise ValueError(f"{least:g} is not a utilisation between 0 and 1")
    alone = time_on_one(work, costs)
    if not (alone > 0 and work.operations > 0):
        raise ValueError("there is no work that takes time")
    serial = (processors - 1) * work.sequential + processors * work.loops
    return alone * (1 / least - 1) - costs.operation * serial
