"""The smallest size that keeps a speed, against trying all of them."""

from hypothesis import given
from hypothesis import strategies as st

from interpreter.scalability.search import smallest_lasting


def by_trying(keeps, least, most, lasting):
    sizes = range(least, most - lasting + 1)
    return next((n for n in sizes if all(keeps(m) for m in range(n, n + lasting + 1))), None)


@given(
    period=st.integers(1, 9),
    rises=st.lists(st.integers(0, 6), min_size=1, max_size=120),
    wobble=st.lists(st.integers(-8, 8), min_size=9, max_size=9),
    wanted=st.integers(-20, 200),
    guess=st.integers(1, 150),
    least=st.integers(1, 20),
)
def test_it_is_the_smallest_where_speed_rises_but_for_what_repeats_itself(period, rises, wobble, wanted, guess, least):
    most = len(rises) + least - 1
    speed, total = {}, 0
    for n, more in enumerate(rises, least):
        total += more
        speed[n] = total + wobble[n % period]
    asked = []

    def keeps(n):
        asked.append(n)
        return speed[n] >= wanted

    found = smallest_lasting(keeps, least, guess, most, 2 * period)
    assert found == by_trying(lambda n: speed[n] >= wanted, least, most, 2 * period)
    assert len(asked) == len(set(asked))


def test_few_sizes_are_tried():
    asked = []

    def keeps(n):
        asked.append(n)
        return n >= 123_456

    assert smallest_lasting(keeps, 1, 100, 1 << 30, 16) == 123_456
    assert len(asked) < 60
