"""Point-to-point messages against hand calculation (Def 6, 7, 11)."""

import numpy as np
import pytest

from interpreter.setting import Setting
from tests.interpreter.hand import US, Hand, additive, collective, law, machine, metrics, phase

ONE = phase([0], [1], 125)  # 1000 bytes
BOTH = phase([0, 1], [1, 0], 125)
T = law(1000, 1)


def run(hand, *body, **options):
    prediction = hand.run(*body, on=machine(**options))
    additive(prediction)
    return prediction


def parts(prediction, processor):
    each = prediction.per_processor
    return [float(getattr(each, name)[0, processor]) for name in ("communication_s", "waiting_s", "overhead_s")]


@pytest.mark.parametrize("size", [1, 100, 101, 1024])
@pytest.mark.parametrize(("destination", "hops"), [(1, 1), (2, 2), (5, 3)])  # nodes are Gray coded: 1, 3, 7
def test_a_message_takes_the_law(size, destination, hops):
    hand = Hand(8)
    got = run(hand, hand.comm(phase([0], [destination], size, element_bytes=1)))
    assert got.per_processor.end_s[0, destination] == pytest.approx(law(size, hops), rel=1e-12)
    assert (got.messages, got.bytes) == (1, size)


def test_late_receiver_pays_the_rest_only():
    hand = Hand(2)
    got = run(hand, hand.compute([0, 200]), hand.comm(ONE))
    assert got.time_s[0] == pytest.approx(T)
    assert parts(got, 1) == pytest.approx([T - 200 * US, 0, 0])


def test_receiver_later_than_the_message_pays_nothing():
    hand = Hand(2)
    got = run(hand, hand.compute([0, 9000]), hand.comm(ONE))
    assert got.time_s[0] == pytest.approx(9000 * US)
    assert parts(got, 1) == pytest.approx([0, 0, 0])
    assert parts(got, 0) == pytest.approx([T, 9000 * US - T, 0])


def test_early_receiver_waits_for_its_partner():
    hand = Hand(2)
    got = run(hand, hand.compute([300, 100]), hand.comm(ONE))
    assert parts(got, 1) == pytest.approx([T, 200 * US, 0])


def test_an_exchange_costs_one_way():
    hand = Hand(2)
    assert run(hand, hand.comm(BOTH)).time_s[0] == pytest.approx(T)


def test_exchange_factor_is_paid_by_partners_only():
    hand = Hand(4)
    got = run(hand, hand.comm(phase([0, 1, 2], [1, 0, 3], 125)), factor=2.0)
    np.testing.assert_allclose(got.per_processor.end_s[0], [2 * T, 2 * T, T, T])


def test_startup_model_keeps_the_sender_for_the_call_only():
    hand = Hand(2)
    got = run(hand, hand.comm(ONE), send="startup", call=0.25)
    assert got.per_processor.end_s[0] == pytest.approx([147 * US / 4, T])


def test_overlap_hides_a_fraction_of_the_transmission_once():
    hand = Hand(2)
    call = 147 * US
    expected = call + 0.6 * (T - call)
    assert run(hand, hand.comm(BOTH), overlap=0.4).time_s[0] == pytest.approx(expected)
    hand = Hand(2)
    one_way = run(hand, hand.comm(ONE), overlap=0.4)
    np.testing.assert_allclose(one_way.per_processor.end_s[0], [expected, expected])


def test_overlap_hides_of_a_late_receiver_what_is_left():
    hand = Hand(2)
    got = run(hand, hand.compute([0, 300]), hand.comm(ONE), overlap=0.4)
    assert got.per_processor.end_s[0, 1] == pytest.approx(300 * US + 0.6 * (T - 300 * US))


def test_overlap_never_hides_waiting():
    hand = Hand(2)
    got = run(hand, hand.compute([1000, 0]), hand.comm(ONE), overlap=0.4)
    assert parts(got, 1)[1] == pytest.approx(1000 * US)


def test_receive_overhead_is_communication_of_the_receiver():
    hand = Hand(2)
    got = run(hand, hand.comm(ONE), receive=30 * US)
    assert got.per_processor.end_s[0] == pytest.approx([T, T + 30 * US])
    assert parts(got, 1) == pytest.approx([T + 30 * US, 0, 0])


def test_load_stretches_bytes_and_makes_messages_wait_for_links():
    hand = Hand(2)
    got = run(hand, hand.comm(ONE), load=0.5)
    stretched = 147 * US + 2 * 390 * US + 30.5 * US
    assert parts(got, 1) == pytest.approx([stretched, 0.5 * 780 * US, 0])  # l / (2 (1 - l)) = 1/2
    assert got.per_processor.end_s[0, 0] == pytest.approx(stretched)


def test_strided_sections_are_packed_on_both_sides():
    hand = Hand(2)
    strided = phase([0], [1], 10, contiguous=False)
    got = run(hand, hand.comm(strided), prices={"loop.iteration": 0.1 * US})
    each = 10 * (0.05 + 0.04 + 0.025 + 0.1) * US
    assert parts(got, 0)[2] == pytest.approx(each)
    assert parts(got, 1) == pytest.approx([law(80, 1), each, each])
    hand = Hand(2)
    assert parts(run(hand, hand.comm(strided), pack=2 * US), 0)[2] == pytest.approx(160 * US)


def test_directions_follow_one_another_or_fly_together():
    right, left = phase([0, 1, 2], [1, 2, 3], 125), phase([1, 2, 3], [0, 1, 2], 125)
    hand = Hand(4)
    assert run(hand, hand.comm(right, left)).time_s[0] == pytest.approx(2 * T)
    hand = Hand(4)
    together = run(hand, hand.comm(right, left), exchange="concurrent")
    assert together.time_s[0] == pytest.approx(147 * US + T)


def test_scenarios_are_walked_together():
    hand = Hand(2)
    got = run(hand, hand.compute([0, 200]), hand.comm(ONE), scenarios=3, bandwidth=[1, 2, 0.5])
    expected = [law(1000, 1, bandwidth=b) for b in (1, 2, 0.5)]
    np.testing.assert_allclose(got.time_s, expected)


def test_without_a_network_the_prediction_says_what_is_missing():
    hand = Hand(4)
    got = hand.run(hand.comm(ONE), hand.reduce(collective("reduction", 4, 1)), on=machine(network=False))
    assert got.time_s[0] == 0
    assert [each.code for each in got.assumptions] == ["no-network"]
    assert not got.complete


def test_an_overlap_factor_of_the_user_goes_before_the_machine():
    hand = Hand(2)
    got = hand.run(hand.comm(BOTH), on=machine(overlap=0.9), setting=Setting(overlap=0.0))
    assert got.time_s[0] == pytest.approx(T)


def test_the_table_says_whether_a_message_waited_for_a_link():
    hand = Hand(8)
    crossing = [phase([source], [5], 1000) for source in (2, 1, 0)]
    shift = hand.comm(*crossing)
    got = run(hand, shift, exchange="concurrent")
    assert metrics(got, shift).comm.contended


def test_the_table_of_communication():
    hand = Hand(4)
    shift = hand.comm(phase([0, 1, 2], [1, 2, 3], [4, 125, 125]))
    got = run(hand, hand.loop("i", 50, shift))
    entry = metrics(got, shift).comm
    assert (entry.executions, entry.messages, entry.bytes) == (50, 150, 50 * 2032)
    assert entry.sizes == ((1000, 2), (32, 1))
    assert (entry.hops, entry.contended) == (1, False)
