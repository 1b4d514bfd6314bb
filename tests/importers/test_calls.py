"""Kernels that call imported models, and take over their schedules."""

from __future__ import annotations

import numpy as np

import allo
from allo.importers import quantized
from allo.ir.types import float32

from .models import check, kernel_of, stored

model = kernel_of("perceptron")


def test_a_kernel_calls_a_model_twice() -> None:
    def both(x: float32[2, 8], y: float32[2, 8]) -> float32[2, 4]:
        first: float32[2, 4] = model(x)
        second: float32[2, 4] = model(y)
        return allo.add(first, second)

    (x,), (wanted,) = stored("perceptron").inputs, stored("perceptron").results
    expected = wanted + model(-x)
    schedule = allo.customize(both, lower_linalg=True)
    own = allo.customize(model, lower_linalg=True)
    loops = own.get_loops()["linear"]
    own.reorder(loops["k"], loops["j"])
    schedule.compose(own)
    for function in (both, schedule.build(), allo.interpret(both)):
        check((np.asarray(function(x, -x)),), (expected,))
    assert [str(step) for step in schedule.steps] == ['s.reorder("perceptron:linear.k", "perceptron:linear.j")']


def test_a_kernel_may_have_the_name_of_a_model() -> None:
    def perceptron(x: float32[2, 8]) -> float32[2, 4]:
        return model(x)

    check((allo.customize(perceptron).build()(*stored("perceptron").inputs),), stored("perceptron").results)


def test_models_of_one_name_are_called_and_composed() -> None:
    """Each has a function of its own, which keeps its name where the model is compiled again."""
    first, second = kernel_of("perceptron"), quantized(model, [stored("perceptron").inputs])
    assert first.__name__ == second.__name__

    def chosen(x: float32[2, 8]) -> float32[2, 4]:
        exact: float32[2, 4] = first(x)
        near: float32[2, 4] = second(x)
        return allo.sub(exact, near)

    (x,) = stored("perceptron").inputs
    own = allo.customize(second, lower_linalg=True)
    own.pipeline(own.get_loops()["linear_sums"]["j"])
    schedule = allo.customize(chosen, lower_linalg=True)
    schedule.compose(own)
    assert [str(step) for step in schedule.steps] == ['s.pipeline("perceptron_1:linear_sums.j")']
    np.testing.assert_allclose(schedule.build()(x), first(x) - second(x), atol=1e-6)
    assert "func.func @perceptron(" in str(allo.customize(second).module)
