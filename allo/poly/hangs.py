"""Hangs of programs with streams: processes without their data, run with FIFOs of their depths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from math import prod
from types import CodeType

from mlir import ir

from ..errors import Location
from ..ir.hang import Hang, Waiting
from ..ir.module import Module
from ..ir.processes import is_region
from ..ir.stream_facts import facts_of, made_streams
from ..ir.walk import location_of
from .ranked_waits import number_of_tasks, waits_are_ranked
from .token_counts import is_balanced
from .wait_circles import has_no_circle
from .waiting.program import DataDependent, TokenProgram
from .waiting.run import Ending, TokenRun, TooLong, TwoAtOneEnd, Wall
from .waiting.tasks import Task, TokenFifo
from .waiting.told import told_hang

MOST_STEPS = 4_000_000  # turns of processes and iterations that are run, not added up: some seconds
_FEW_STEPS = 5_000  # a hundredth of a second
_STEPS_IN_ORDER = 100_000
_MANY_TASKS = 1_000
# What a FIFO of a program that waits for ever nowhere may hold when it is simulated: results do not depend on depths
# then, and processes take turns less often.
ROOM = 1024


@dataclass(frozen=True, slots=True)
class Untold:
    """It cannot be said whether a program hangs, because of what stands at a place."""

    reason: str
    at: Location | None
    is_long: bool = False  # a longer run might tell


@dataclass(frozen=True, slots=True)
class Surplus:
    """Elements that nobody takes out of a stream: who puts the first of them, where, and in which iterations.

    `taker` is who takes those before it, None if there is nobody. Put and taken are blocks of `block` elements.
    """

    waiting: Waiting
    putter: TaskPosition
    at: Location | None
    iteration: tuple[tuple[str, int], ...]
    taker: TaskPosition | None
    block: int


@dataclass(frozen=True, slots=True)
class SharedStream:
    """A stream at one of whose ends two tasks are, and what they do there."""

    name: str
    made: Location | None
    tasks: tuple[TaskPosition, TaskPosition]
    ends: tuple[ir.Operation, ir.Operation] = field(repr=False)


@dataclass(frozen=True, slots=True)
class TaskPosition:
    """A process of a region, at a position of its grid; `process` is None for what is around all regions."""

    process: ir.Operation | None = field(repr=False)
    position: tuple[int, ...]


type _Outcome = tuple[Hang | Untold | None, Callable[[], Surplus | None], SharedStream | None]


def hang_of(module: Module, most: int = MOST_STEPS, *, balanced: bool = False) -> Hang | Untold | None:
    """Why a program waits for ever at FIFOs, which is the same in whatever order its processes run; None if it ends.

    `balanced` says that as many elements are taken out of each stream as are put into it.
    """
    made = [op for function in module.functions() for op in made_streams(function)]
    if not made or (has_no_circle(module, made) and (balanced or is_balanced(module, (op.results[0] for op in made)))):
        return None
    return _outcome(module, made, most)[0]


def imbalance_of(module: Module, most: int = MOST_STEPS) -> Hang | Surplus | SharedStream | Untold | None:
    """What is wrong with streams: two tasks at one end, a wait for ever, elements that are left when all has ended."""
    made = [op for function in module.functions() for op in made_streams(function)]
    if not made or (is_balanced(module, (op.results[0] for op in made)) and has_no_circle(module, made)):
        return None
    hang, left, shared = _outcome(module, made, most)
    return shared or left() or hang


def _is_large(made: Sequence[ir.Operation]) -> bool:
    """Whether a proof for all tasks of regions at once takes less time than a run of each."""
    return any(number_of_tasks(block) >= _MANY_TASKS for block in {op.block for op in made} if is_region(block))


def _outcome(module: Module, made: Sequence[ir.Operation], most: int) -> _Outcome:
    """What is known of the module, or is found out in so many steps."""
    known = module.once(_outcomes)
    found = next((own for steps, own in known.items() if steps >= most or not _is_long(own)), None)
    if found is None:
        found = known[most] = _found_out(module, made, most)
    return found


def _outcomes(_: Module) -> dict[int, _Outcome]:
    """What has been found out of a module, by the steps that it might take."""
    return {}


def _is_long(outcome: _Outcome) -> bool:
    return isinstance(outcome[0], Untold) and outcome[0].is_long


def _found_out(module: Module, made: Sequence[ir.Operation], most: int) -> _Outcome:
    """By a proof for all tasks where there are many, else by a run, and by a proof if that is too long."""
    is_large = _is_large(made)
    if is_large and waits_are_ranked(module):
        return None, _no_surplus, None
    found = _run(module, made, most)
    return (None, _no_surplus, None) if _is_long(found) and not is_large and waits_are_ranked(module) else found


def _no_surplus() -> None:
    """Nothing stays in streams, or it is not known."""


def _run(module: Module, made: Sequence[ir.Operation], most: int) -> _Outcome:
    program = TokenProgram(module, made)
    try:
        code = compile(program.text(), "<tokens>", "exec")
    except DataDependent as error:
        return Untold(error.reason, error.at), _no_surplus, None
    except SyntaxError:  # Python has a limit
        return Untold("its loops are nested too deeply", None), _no_surplus, None
    facts = [facts_of(module, op) for op in made]
    run = TokenRun(program, most)
    found = _ending(run, code)
    shared = None
    if run.shared is not None:
        stream, index = facts[run.shared.fifo.number], run.shared.fifo.index
        one, other = (_placed(program, task) for task in run.shared.tasks)
        ends = program.sites[run.shared.sites[0]].op, program.sites[run.shared.sites[1]].op
        shared = SharedStream(stream.element(index), stream.made, (one, other), ends)
    if isinstance(found, Untold):
        return found, _no_surplus, shared
    hang = told_hang(program, code, facts, found, most)
    ended = hang is None or hang.empty is None
    left = next((fifo for fifo in run.fifos if fifo.puts > fifo.gets), None) if ended else None
    if left is None:
        return hang, _no_surplus, shared
    waiting = Waiting(facts[left.number], left.index, left.declared, left.puts, left.gets)
    return hang, cache(partial(_surplus, program, code, most, left, waiting)), shared


def _surplus(program: TokenProgram, code: CodeType, most: int, left: TokenFifo, waiting: Waiting) -> Surplus:
    """Where the first element is put that stays: where a run ends whose FIFO takes no more than is taken out of it."""
    putter = left.putter
    assert putter is not None
    run = TokenRun(program, most, Wall(left.number, left.index, left.gets))
    found = _ending(run, code)
    stopped = None
    if isinstance(found, Ending):
        stopped = next((task for task in found.wait if task.full is not None and task.full.is_walled), None)
    at, block = None, 1
    if stopped is not None and stopped.site is not None:
        site = program.sites[stopped.site]
        at = location_of(site.op)
        block = prod(loop.trips or 1 for loop in site.loops if loop.is_of(site.op))
    iteration = () if stopped is None else run.iteration(stopped)
    taker = None if left.getter is None else _placed(program, left.getter)
    return Surplus(waiting, _placed(program, putter), at, iteration, taker, block)


def _placed(program: TokenProgram, task: Task) -> TaskPosition:
    return TaskPosition(program.processes[task.process].op, task.position)


def _ending(run: TokenRun, code: CodeType) -> Ending | Untold:
    most = run.left
    try:
        return run.run(code)
    except TooLong:
        return Untold(f"its tasks do more than {most:,} different steps", None, is_long=True)
    except TwoAtOneEnd:
        return Untold("two processes wait at one end of a stream, in no order", None)
    except KeyError:
        return Untold("it uses a stream outside of an array of streams", None)


def always_ends(module: Module) -> bool:
    """Whether it is soon seen that a program with streams waits for ever nowhere."""
    return not isinstance(hang_of(module, _FEW_STEPS), Hang | Untold)


def runs_in_order(module: Module) -> bool:
    """Whether processes could run one after the other, in the order of the text; True where that is not known."""
    made = [op for function in module.functions() for op in made_streams(function)]
    program = TokenProgram(module, made)
    try:
        code = compile(program.text(), "<tokens>", "exec")
        return TokenRun(program, _STEPS_IN_ORDER).run_in_order(code)
    except (DataDependent, TooLong, TwoAtOneEnd, SyntaxError, KeyError):
        return True
