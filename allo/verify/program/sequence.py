"""Sequential order of processes that streams connect: producers first, and the same results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mlir import ir

from ...errors import DataflowError, Note
from ...ir.access import callee_name
from ...ir.effects import Effects, Place, Touched, with_inner
from ...ir.module import Module
from ...ir.streams import is_stream_type
from ...ir.walk import entry_block, location_of, string_of

type Edges = dict[int, dict[int, str]]  # a task -> those that it must wait for, each with the reason


def order_tasks(module: Module) -> None:
    """Move the tasks of each block that makes streams, so that these are filled before they are emptied.

    A task is a call or a loop nest. Statements that share values, arrays or ends of streams keep their order.
    Raises DataflowError, with the cycle, for tasks that wait for each other: only tasks that take turns can run them.
    """
    effects = Effects(module)
    for function in module.functions():
        entry = entry_block(function)
        for block in [] if entry is None else list(_blocks(entry)):
            statements = [op.operation for op in block.operations]
            made = frozenset(
                result for op in statements for result in op.results if is_stream_type(result.type)
            )
            if not made:
                continue
            touched = [effects.touched(op) for op in statements]
            ends = [replace(own, puts=own.puts & made, gets=own.gets & made) for own in touched]
            if any(_is_task(op) and _waits(ends, position) for position, op in enumerate(statements)):
                _sort(statements, ends)


def _blocks(block: ir.Block) -> Iterator[ir.Block]:
    yield block
    for op in block.operations:
        for region in op.operation.regions:
            for inner in region.blocks:
                yield from _blocks(inner)


def _is_task(op: ir.Operation) -> bool:
    return op.name == "func.call" or len(op.regions) > 0


def _waits(ends: list[Touched], position: int) -> frozenset[ir.Value]:
    """The streams that a statement gets from although only later statements put into them."""
    own = ends[position]
    late = {stream for end in ends[position + 1 :] for stream in end.puts}
    early = {stream for end in ends[: position + 1] for stream in end.puts}
    return frozenset(stream for stream in own.gets if stream in late and stream not in early)


def _sort(statements: list[ir.Operation], ends: list[Touched]) -> None:
    edges: Edges = {position: {} for position in range(len(statements))}
    for position, op in enumerate(statements):
        late = _waits(ends, position) if _is_task(op) else frozenset()
        for stream in ends[position].gets:
            others = range(position + 1, len(statements)) if stream in late else range(position)
            for other in others:
                if stream in ends[other].puts:
                    edges[position][other] = f"gets from {_place_name(stream)}"
    _keep_order(statements, ends, edges)
    order: list[int] = []
    done: set[int] = set()
    last = len(statements) - 1  # the terminator
    while len(order) < last:
        ready = next((k for k in range(last) if k not in done and done.issuperset(edges[k])), None)
        if ready is None:
            raise _cycle(statements, edges, done)
        done.add(ready)
        order.append(ready)
    for position in order:
        statements[position].move_before(statements[last])


def _keep_order(statements: list[ir.Operation], ends: list[Touched], edges: Edges) -> None:
    """A statement waits for the earlier ones whose values, arrays and ends of streams it shares."""
    defined: dict[ir.Value, int] = {}
    for position, op in enumerate(statements):
        own = ends[position]
        for other in range(position):
            if shared := ends[other].conflicts(own):
                edges[position].setdefault(other, f"shares {min(map(_place_name, shared))}")
            if (ends[other].puts & own.puts) or (ends[other].gets & own.gets):
                edges[position].setdefault(other, "is at the same end of a stream")
        for inner in with_inner(op):
            for operand in inner.operands:
                if operand in defined:
                    edges[position].setdefault(defined[operand], "uses a value")
        defined.update({result: position for result in op.results})


def _cycle(statements: list[ir.Operation], edges: Edges, done: set[int]) -> DataflowError:
    """The error for the first cycle among the tasks that are left."""
    path = [next(k for k in range(len(statements)) if k not in done)]
    while True:
        following = next(other for other in sorted(edges[path[-1]]) if other not in done)
        if following in path:
            cycle = path[path.index(following) :]
            break
        path.append(following)
    told = ", ".join(
        f"{_task_name(statements[task])} {edges[task][cycle[(k + 1) % len(cycle)]]} and waits for "
        f"{_task_name(statements[cycle[(k + 1) % len(cycle)]])}"
        for k, task in enumerate(cycle)
    )
    return DataflowError(
        f"tasks wait for each other in a cycle: {told}",
        hint="the CPU runs one task after the other; break the cycle, or run it in the simulator",
        notes=[Note(f"{_task_name(statements[task])} is here", location_of(statements[task])) for task in cycle],
    )


def _task_name(op: ir.Operation) -> str:
    if op.name == "func.call":
        return f"'{callee_name(op)}'"
    name = string_of(op, "allo.nest") or string_of(op, "allo.name")
    return f"nest '{name}'" if name else f"`{op.name}`"


def _place_name(place: Place) -> str:
    if isinstance(place, str):
        return f"'@{place}'"
    if isinstance(place.owner, ir.Block):
        return f"'argument {ir.BlockArgument(place).arg_number}'"
    return f"'{string_of(place.owner.operation, 'allo.name') or 'stream'}'"
