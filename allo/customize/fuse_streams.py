"""fuse_streams: arrays between loop nests become streams, as many as the memory on the chip allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from math import prod

from mlir import ir

from ..errors import ScheduleError
from ..ir.effects import Effects, Place, Touched
from ..ir.mlir_types import from_mlir
from ..ir.processes import is_region
from ..ir.states import Draft
from ..ir.types import TensorType
from ..ir.walk import entry_block, statements, string_of, trip_count
from ..poly import extract
from .convert import LinkPlan, link_plan, stream
from .dataflow import make_region
from .fifo.agreement import bands_of, like, orders_of_later_writers
from .fifo.fusion import FusionPlan, KernelGraph, StreamLink, fused
from .fifo.stages import Stage, read_stages
from .module.declared_orders import confirm_declared_orders
from .nest.absorb import one_writer
from .nest.border import with_border
from .reorder import permute
from .step.handles import Buffer, Function, Loop, Nest
from .step.primitive import primitive
from .step.record import Decided
from .step.resolve import find_buffer


@primitive(whole_module=True)
def fuse_streams(
    module: Draft,
    function: Function,
    budget: int | None = None,
    arrays: tuple[Buffer, ...] | None = None,
    nests: tuple[Nest, ...] | None = None,
    reorder: bool = True,
) -> Decided[FusionPlan | None]:
    """Let the loop nests of `function` hand on arrays as streams, with converters of at most `budget` bytes a kernel.

        for ...: T = S(A)                     fifo_T: Stream[...]
        for ...: U = R(T)          ->         for ...: fifo_T.put(S(A))
        for ...: B = Q(U)                     for ...: fifo_U.put(R(fifo_T.get()))    # and so on, at the same time

    First, nests that write one array, and those that use it in between, become one nest, in as many loops as may be:
    these are the kernels; a border of constants and what is inside of it become one nest that gives both element by
    element. With `reorder`, each runs its loops as the arrays that it takes come, if that is legal and the converters
    then hold less; where windows slide over images, kernels that begin with arguments go pixel by pixel if all
    converters together then hold less. In the order of the text, each kernel joins the last fused kernel that it
    takes an array from, if the converters of the arrays between them fit into the budget with those that are there;
    else it begins a new one, and takes its arrays from memory. Without a budget all streams that can be made are. Each
    is made as by `convert`, FIFOs as deep as the array has elements; `size_fifos` makes them shallow.
    Returns the plan (`FusionPlan`), with the kernels, the bytes on the chip before and after, and why an array does not
    stream. The step records `arrays` and the `nests` that take them: repeated, it plans nothing and returns None; you
    may give both yourself. `allo.mapping.fusion_gap(plan)` tells how far the plan is from the best one.
    Refused: a negative budget; a function without two loop nests that hand on an array; what `convert` refuses of
    arrays that are given.
    Source: StreamTensor, sections 4.2, 5.1 (permutation) and 5.2.2, Algorithm 2.
    """
    if budget is not None and budget < 0:
        raise ScheduleError(f"budget= are the bytes of converters in a fused kernel, got {budget}")
    if (arrays is None) != (nests is None) or len(arrays or ()) != len(nests or ()):
        raise ScheduleError(
            "arrays= and nests= are given together, a nest for each array",
            hint='s.fuse_streams("f", arrays=["T"], nests=["consume"])',
        )
    function_op = module.function(function.name)
    entry = entry_block(function_op)
    if entry is None:
        raise ScheduleError(f"the body of '{function}' is not in the module")
    join_writers(module, function.name)
    if reorder:
        agree_on_orders(module, function.name)
    plan = None
    if arrays is None or nests is None:
        graph = kernel_graph(module, function.name)
        if not graph.links:
            raise ScheduleError(
                f"no two loop nests of '{function}' hand on a local array",
                hint="customize with lower_linalg=True makes loops of operators; inline() those of functions",
            )
        plan = fused(graph, budget)
        arrays = tuple(Buffer(function.name, link.array) for link in plan.streamed)
        nests = tuple(Nest(function.name, link.consumer) for link in plan.streamed)
    if not is_region(entry):
        make_region(module, extract(function_op), entry)
    for array, nest in zip(arrays, nests, strict=True):
        stream(module, array, nest, -1)
    confirm_declared_orders(module)
    return Decided({"arrays": arrays, "nests": nests}, plan)


def join_writers(module: Draft, name: str) -> None:
    """Let nests that write one array, with what uses it in between, become one where that is possible.

    Before, the earlier ones run their loops in the order of the later ones, so that they share as many as may be.
    """
    for nest, names in orders_of_later_writers(module, name).items():
        with suppress(ScheduleError):
            permute(module, [Loop(name, nest, loop) for loop in names])
    function, effects = module.function(name), Effects(module)
    entry = entry_block(function)
    assert entry is not None
    found = [(op, effects.touched(op)) for op in statements(entry)]
    places = dict.fromkeys(effects.place(value) for value in module.buffers(name).values())
    while any([_joined(function, effects, found, place) for place in places]):
        pass


def _joined(function: ir.OpView, effects: Effects, found: list[tuple[ir.Operation, Touched]], place: Place) -> bool:
    """Join the statements that write one array, of all with what they touch; whether any could be."""
    has_joined = False
    while pair := _joined_pair(function, found, place):
        first, second = pair
        found[second] = found[second][0], effects.touched(found[second][0])
        del found[first]
        has_joined = True
    return has_joined


def _joined_pair(
    function: ir.OpView, found: Sequence[tuple[ir.Operation, Touched]], place: Place
) -> tuple[int, int] | None:
    """The numbers of two statements that use an array, of which the first has joined the second; None if none can."""
    users = [n for n, (_, touched) in enumerate(found) if place in touched.reads or place in touched.writes]
    writing = [at for at, n in enumerate(users) if place in found[n][1].writes]
    for first, second in pairwise(users[writing[0] : writing[-1] + 1] if writing else ()):
        nests = [found[first][0], found[second][0]]
        if with_border(function, *nests) or one_writer(function, nests):
            return first, second
    return None


def agree_on_orders(module: Draft, name: str) -> None:
    """Let each nest, in the order of the text, run its loops so that the converters in front of it hold the least.

    Orders that its producers suggest are tried, by `reorder`. Where windows slide over arrays, nests that take none of
    these arrays are tried as they are, and with the loops that the windows slide along outermost, in an image or in
    all of them, so that all channels of a pixel pass together.
    """
    takes: dict[str, list[Buffer]] = {}
    makes: dict[str, Stage] = {}
    for buffer, stages in _shared(module, name):
        for stage in stages:
            if stage.callee is None and stage.op.name == "affine.for":
                if stage.writes:
                    makes[string_of(stage.op, "allo.nest") or ""] = stage
                elif stage.reads:
                    takes.setdefault(string_of(stage.op, "allo.nest") or "", []).append(buffer)
    entry = entry_block(module.function(name))
    assert entry is not None
    order = [string_of(op, "allo.nest") or "" for op in statements(entry)]
    taking = sorted(takes, key=order.index)
    given = _orders(module, name)
    sliding: set[tuple[int, int]] = set()
    least = sum(_agree(module, Nest(name, nest), takes[nest], sliding) for nest in taking)
    best = _orders(module, name)
    first = [{nest: _slid(makes[nest], given[nest], sliding, kept) for nest in makes.keys() - takes} for kept in (1, 0)]
    tried = [given]
    for orders in first if sliding else ():
        if {**given, **orders} in tried:
            continue
        tried.append({**given, **orders})
        _permute_all(module, name, tried[-1])
        held = sum(_agree(module, Nest(name, nest), takes[nest], sliding) for nest in taking)
        if held < least:
            least, best = held, _orders(module, name)
    if len(tried) > 1:
        _permute_all(module, name, best)


def _orders(module: Draft, name: str) -> dict[str, list[str]]:
    """The loops of each nest that may be in any order again."""
    return {nest: [view.name for view in band] for nest, band in bands_of(module, name).items()}


def _permute_all(module: Draft, name: str, orders: Mapping[str, Sequence[str]]) -> None:
    now = _orders(module, name)
    for nest, names in orders.items():
        if names != now[nest]:
            permute(module, [Loop(name, nest, loop) for loop in names])


def _slid(stage: Stage, names: Sequence[str], sliding: set[tuple[int, int]], kept: int) -> list[str]:
    """The loops of a nest with those outermost that go along the first `kept` dimensions of the array that it writes,
    then those along dimensions in which windows slide over arrays of as many."""
    forms = stage.writes[0].subscripts
    ranks: dict[str, int] = {}
    for loop in stage.writes[0].loops:
        along = [d for d, form in enumerate(forms) if loop.variable in dict(form.terms)]
        places = [0 if d < kept else 1 for d in along if d < kept or (len(forms), d) in sliding]
        ranks[loop.name] = 0 if trip_count(loop.op) == 1 else min(places, default=2)
    return sorted(names, key=lambda name: ranks.get(name, 2))


def _agree(module: Draft, nest: Nest, taken: Sequence[Buffer], sliding: set[tuple[int, int]]) -> int:
    """Find the best of the orders of the loops of one nest that takes some arrays; the bits that are held then.

    Where windows slide, the rank of an array and the dimension, is added to `sliding`.
    """
    band = bands_of(module, nest.function)[nest.name]
    least, plans = _held(module, nest, taken)
    sliding.update((plan.result.rank, d) for plan in plans for d in plan.result.sliding)
    best = [view.name for view in band]
    tried = [best]
    for names in [like(plan.source, plan.get, band) for plan in plans if plan.converter is not None]:
        if names in tried or not least:
            continue
        tried.append(names)
        try:
            permute(module, [Loop(nest.function, nest.name, name) for name in names])
        except ScheduleError:
            continue
        held, _ = _held(module, nest, taken)
        if held < least:
            least, best = held, names
        else:
            permute(module, [Loop(nest.function, nest.name, name) for name in best])
    return least


def _held(module: Draft, nest: Nest, taken: Sequence[Buffer]) -> tuple[int, list[LinkPlan]]:
    """The bits of converters in front of a nest, or of arrays that cannot stream to it; the plans of those that can."""
    bits, plans = 0, []
    for buffer in taken:
        tensor = from_mlir(find_buffer(module, buffer).type)
        assert isinstance(tensor, TensorType)
        try:
            plan = link_plan(module, buffer, nest)
        except ScheduleError:
            bits += prod(tensor.shape) * tensor.element.bits
            continue
        plans.append(plan)
        bits += 0 if plan.converter is None else plan.converter.buffered * tensor.element.bits
    return bits, plans


def _shared(module: Draft, name: str) -> list[tuple[Buffer, list[Stage]]]:
    """The local arrays that several statements of the function use, with these."""
    found = []
    for label, value in module.buffers(name).items():
        local = not isinstance(value.owner, ir.Block) and value.owner.operation.name == "memref.alloc"
        if local and value.owner.operation.block == entry_block(module.function(name)):
            stages = read_stages(module, Buffer(name, label), value)
            if not isinstance(stages, ScheduleError) and len(stages) > 1:
                found.append((Buffer(name, label), stages))
    return found


def kernel_graph(module: Draft, name: str) -> KernelGraph:
    """The loop nests of a function, and the arrays between them, with the cost of a converter or why there is none."""
    function = module.function(name)
    entry = entry_block(function)
    assert entry is not None
    order = [nest for op in statements(entry) if op.name == "affine.for" and (nest := string_of(op, "allo.nest"))]
    links = []
    for buffer, stages in _shared(module, name):
        writing = [n for n, stage in enumerate(stages) if stage.writes]
        for n, stage in enumerate(stages):
            if writing and writing[0] < n and stage.reads:
                producer = stages[max(w for w in writing if w < n)]
                if all(string_of(one.op, "allo.nest") in order for one in (producer, stage)):  # no single statements
                    links.append(_link(module, buffer, producer, stage, several=len(writing) > 1))
    used = {kernel for link in links for kernel in (link.producer, link.consumer)}
    kernels = tuple(kernel for kernel in order if kernel in used)
    return KernelGraph(kernels, tuple(sorted(links, key=lambda link: kernels.index(link.consumer))))


def _link(module: Draft, buffer: Buffer, producer: Stage, consumer: Stage, *, several: bool) -> StreamLink:
    made, taken = (string_of(stage.op, "allo.nest") or "" for stage in (producer, consumer))
    tensor = from_mlir(find_buffer(module, buffer).type)
    assert isinstance(tensor, TensorType)
    bits = tensor.element.bits
    total = -(-prod(tensor.shape) * bits // 8)
    if several:
        return StreamLink(buffer.name, made, taken, total, None, "several nests write it, which cannot become one")
    try:
        converter = link_plan(module, buffer, Nest(buffer.function, taken)).converter
    except ScheduleError as error:
        return StreamLink(buffer.name, made, taken, total, None, error.diagnostics[0].message)
    if converter is None:
        return StreamLink(buffer.name, made, taken, total, 0)
    return StreamLink(buffer.name, made, taken, total, -(-bits * converter.buffered // 8), "", str(converter))
