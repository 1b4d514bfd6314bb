"""Arguments and Stateful variables whose types steps have changed, against programs with and without these steps."""

import pytest

import allo
from allo import customize
from allo.ir.types import Fixed, Stateful, float32, int16, int64
from allo.verify import Different, Equivalent
from allo.verify.program.interface import changes_of


def delayed(T, start):
    def kernel(V: T[8]):
        W: Stateful[T[4]] = start
        for i in range(8):
            for k in range(3):
                W[3 - k] = W[2 - k]
            W[0] = V[i]
            V[i] = W[3]

    return kernel


@pytest.mark.parametrize(("kind", "start"), [(int64, -3), (float32, 1.5), (Fixed(12, 5), 0.5)])
@pytest.mark.parametrize("step", [("pack", {"dim": 1, "factor": 2}), ("reshape", {"shape": [2, 2]})])
def test_states_in_another_form_are_the_same(kind, start, step):
    s = customize(delayed(kind, start))
    getattr(s, step[0])("W", **step[1])
    assert isinstance(s.verify(), Equivalent)


def test_packed_states_that_start_otherwise_differ():
    s = customize(delayed(int16, 1))
    s.pack("W", dim=1, factor=2)
    answer = allo.verify(delayed(int16, 2), s)
    assert isinstance(answer, Different), answer


def scaled(A: int16[4, 6]):
    for i, j in allo.grid(4, 6):
        A[i, j] = A[i, j] * 3


@pytest.mark.parametrize("step", [("pack", {"dim": 1, "factor": 2}), ("reshape", {"shape": [24]})])
def test_a_schedule_is_compared_with_the_text_of_its_module(step):
    s = customize(scaled)
    getattr(s, step[0])("A", **step[1])
    text = str(s.module)
    assert isinstance(allo.verify(s, text), Equivalent)
    assert isinstance(allo.verify(text, s), Equivalent)
    assert isinstance(allo.verify(s, text.replace("constant 3", "constant 4")), Different)


def test_new_shapes_one_after_the_other_are_one_change():
    s = customize(scaled)
    s.reshape("A", [8, 3])
    s.reshape("A", [4, 6])
    assert s.verify() and not changes_of(s)
    s = customize(scaled)
    s.reshape("A", [24])
    s.reshape("A", [2, 12])
    s.pack("A", dim=2, factor=2)
    assert s.verify() and len(changes_of(s)) == 1
    s.reshape("A", [3, 4])
    assert s.verify() and len(changes_of(s)) == 2
    text = str(s.module).replace("constant 3", "constant 4")
    assert isinstance(allo.verify(s, text), Different)
