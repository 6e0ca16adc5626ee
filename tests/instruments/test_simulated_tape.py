# SPDX-License-Identifier: MIT
"""What simulated devices compute, and when: what is read, in order, and no more."""

from tests.instruments.simulated.simulated_accelerator.tape import Entry, Tape, Value


def entry(name: str, done: list[str], reads: list[Value], writes: list[Value]) -> Entry:
    return Entry(lambda: done.append(name), reads, writes, name, 1e-6)


def test_only_what_a_value_depends_on_is_computed() -> None:
    tape, done = Tape(), list[str]()
    a, b, c = Value(), Value(), Value()
    tape.append(entry("a", done, [], [a]))
    tape.append(entry("b", done, [a], [b]))
    tape.append(entry("c", done, [], [c]))
    tape.force([b])
    assert done == ["a", "b"]
    tape.force([c])
    assert done == ["a", "b", "c"]


def test_what_reads_a_value_comes_before_what_overwrites_it() -> None:
    tape, done = Tape(), list[str]()
    a, b = Value(), Value()
    tape.append(entry("reader", done, [a], [b]))
    tape.append(entry("overwriter", done, [a], [a]))
    tape.force([a])
    assert done == ["reader", "overwriter"]


def test_what_nobody_holds_is_never_computed() -> None:
    tape, done = Tape(), list[str]()
    kept, forgotten, between = Value(), Value(), Value()
    tape.append(entry("between", done, [], [between]))
    tape.append(entry("forgotten", done, [between], [forgotten]))
    tape.append(entry("kept", done, [], [kept]))
    del forgotten, between
    tape.force([kept])
    assert done == ["kept"]
    tape.compute_while_waiting(float("inf"))
    assert done == ["kept"]


def test_what_does_not_fit_into_a_wait_is_left_for_later() -> None:
    tape, done = Tape(), list[str]()
    a = Value()
    tape.append(entry("a", done, [], [a]))
    tape.compute_while_waiting(0.0)
    assert done == []
    tape.compute_while_waiting(float("inf"))
    assert done == ["a"]


def test_a_tape_without_time_computes_only_what_is_read_and_grows_no_further_than_it_must() -> None:
    tape, done = Tape(), list[str]()
    tape.timeless = True
    kept = Value()
    for number in range(1000):
        tape.append(entry(str(number), done, [], [Value()]))
        tape.compute_while_waiting(float("inf"))
    tape.append(entry("kept", done, [], [kept]))
    tape.compute_while_waiting(float("inf"))
    assert done == []
    assert len(tape) <= 200
    tape.force([kept])
    assert done == ["kept"]


def test_a_tape_without_time_computes_what_becomes_too_much() -> None:
    tape, done, kept = Tape(), list[str](), Value()
    tape.timeless = True
    for number in range(30_000):
        tape.append(entry(str(number), done, [kept], [kept]))
        tape.compute_while_waiting(float("inf"))
    assert len(done) > 5_000
    assert done == [str(number) for number in range(len(done))]
