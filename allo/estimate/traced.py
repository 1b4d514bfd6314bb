"""Cycles of kernels whose tasks stand in grids or wait for one another: those of a run without data, put by put."""

from __future__ import annotations

from fractions import Fraction

from mlir import ir

from ..customize.fifo.depths import bits_of
from ..dataflow.replay import replay
from ..ir.effects import Effects
from ..ir.module import Module
from ..ir.processes import is_process, region_blocks, spatial_loops
from ..ir.stream_facts import facts_of, made_streams
from ..ir.walk import induction_variable, operations, statements
from ..timing.control.trees import Trees
from .traces.program import TraceProgram
from .traces.recorder import TooManyEvents, TraceRecorder
from .traces.text import NoTrace

_MOST_EVENTS = 100_000  # some tenths of a second: an estimate does not take longer for larger extents


def traced_cycles(module: Module, trees: Trees) -> tuple[Fraction | None, str]:
    """The cycles of a kernel, and what to say of them; None where rates of puts and gets tell as much, or are all."""
    why = _why(module)
    if not why:
        return None, ""
    rates = f"{why}, and the latency is that of their rates: "
    made = [op for function in module.functions() for op in made_streams(function)]
    for scheduled in (True, False):
        facts, bits = [facts_of(module, op) for op in made], [bits_of(op.results[0].type) for op in made]
        recorder = TraceRecorder(facts, bits, _MOST_EVENTS)
        try:
            program = TraceProgram(module, trees, made, scheduled)
            code = compile(program.text(), "<trace>", "exec")
            exec(code, {"R": recorder, "T": program.tables})  # no names of the user
        except NoTrace as error:
            return None, rates + error.reason
        except TooManyEvents:
            return None, rates + f"more than {_MOST_EVENTS:,} elements pass through streams"
        found = replay(recorder.trace())
        if not found.stuck:
            return Fraction(found.total), f"{why}: the latency is that of a run without data, put by put"
    return None, rates + "FIFOs of these depths let tasks wait for ever"


def _why(module: Module) -> str:
    """What rates of puts and gets do not tell."""
    effects = Effects(module)
    for function in module.functions():
        for block in region_blocks(function):
            processes = [op for op in statements(block)[:-1] if is_process(op)]
            if not any(effects.touched(op).streams for op in processes):
                continue
            if _have_circle(effects, processes):
                return f"{function.name.value}: its tasks wait for one another in a circle"
            if any(_is_grid_of_tasks(op) and effects.touched(op).streams for op in processes):
                return f"{function.name.value}: positions of a grid do not do the same at the same time"
    return ""


def _is_grid_of_tasks(process: ir.Operation) -> bool:
    """Whether a process stands at each position of a grid and knows it; elements of an unfolded nest do the same."""
    variables = [induction_variable(loop) for loop in spatial_loops(process)]
    calls = operations(process.regions[0].blocks[0], "func.call") if variables else []
    return any(operand in variables for call in calls for operand in call.operands)


def _have_circle(effects: Effects, processes: list[ir.Operation]) -> bool:
    """Whether a process gets what depends on what it puts, by way of others."""
    touched = [effects.touched(op) for op in processes]
    below = [
        {k for k, other in enumerate(touched) if k != n and one.puts & other.gets} for n, one in enumerate(touched)
    ]
    while any(others - own for own in below for others in [set().union(*(below[k] for k in own))]):
        below = [own | set().union(*(below[k] for k in own)) for own in below]
    return any(n in own for n, own in enumerate(below))
