"""What every template has: type parameters, a docstring, a default schedule, a meaning in NumPy."""

import ast
import inspect
from types import FunctionType

import pytest

import allo
from allo.ir.types import int8, int32
from allo.library import gemv, nn, reference, systolic

# Parts and variants, which mean what the template of the other name means.
MEANS = {"systolic_tile": "systolic", "weight_stationary_tile": "systolic", "doubled_tile": "systolic"}
MEANS |= {"doubled_systolic": "systolic", "packed_systolic": "systolic", "doubled_gemv": "gemv"}


def templates() -> list[FunctionType]:
    found = {
        f for module in (systolic, gemv, nn) for f in vars(module).values() if isinstance(f, FunctionType)
    }
    return sorted((f for f in found if f.__type_params__), key=lambda f: f.__name__)


@pytest.mark.parametrize("template", templates(), ids=lambda f: f.__name__)
def test_template(template: FunctionType) -> None:
    name = template.__name__
    module = inspect.getmodule(template)
    assert module is not None and callable(getattr(module, f"schedule_{name}"))
    assert callable(getattr(reference, MEANS.get(name, name)))
    assert template.__doc__ and getattr(module, f"schedule_{name}").__doc__


def test_the_modules_are_all_covered() -> None:
    assert len(templates()) == 38


def test_layers_are_offered_with_their_schedules() -> None:
    layers = {f.__name__ for f in vars(nn).values() if isinstance(f, FunctionType) and f.__type_params__}
    assert {f"schedule_{name}" for name in layers} <= set(nn.__all__)


def test_loops_have_names() -> None:
    """Schedules reach every nest by a name of its own."""
    for template in templates():
        tree = ast.parse(inspect.getsource(template))
        for node in tree.body[0].body:  # type: ignore[attr-defined]
            if isinstance(node, ast.For):
                assert isinstance(node.iter, ast.Call)
                assert "name" in {keyword.arg for keyword in node.iter.keywords}, (
                    template.__name__,
                    node.lineno,
                )


def test_schedule_of_another_template() -> None:
    s = allo.customize(systolic.systolic_tile, instantiate=[int8, int8, int32, 2, 2, 2])
    with pytest.raises(allo.ScheduleError) as caught:
        systolic.schedule_packed_int8xint8_systolic(s)
    assert str(caught.value) == (
        "'systolic_tile' does not call 'packed_doubled_systolic', which its default schedule is about\n"
        "  hint: it calls nothing"
    )
    assert len(s.steps) == 0
