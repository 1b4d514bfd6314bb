"""fuse_streams: arrays between loop nests become streams, as many as the memory on the chip allows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from mlir import ir

from ..errors import ScheduleError
from ..ir.effects import Effects, Place, Touched
from ..ir.mlir_types import from_mlir
from ..ir.processes import is_region
from ..ir.states import Draft
from ..ir.types import TensorType
from ..ir.walk import entry_block, statements, string_of
from ..poly import extract
from .convert import LinkPlan, link_plan, stream
from .dataflow import make_region
from .fifo.agreement import band_of, like
from .fifo.fusion import FusionPlan, KernelGraph, StreamLink, fused
from .fifo.stages import Stage, read_stages
from .nest.absorb import one_writer
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
    these are the kernels. With `reorder`, each runs its loops as the arrays that it takes come, if that is legal and
    the converters then hold less. In the order of the text, each kernel joins the last fused kernel that it takes an
    array from, if the converters of the arrays between them fit into the budget with those that are there; else it
    begins a new one, and takes its arrays from memory. Without a budget all streams that can be made are. Each is made
    as by `convert`, FIFOs as deep as the array has elements; `size_fifos` makes them shallow.
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
    return Decided({"arrays": arrays, "nests": nests}, plan)


def join_writers(module: Draft, name: str) -> None:
    """Let nests that write one array, with what uses it in between, become one where that is possible."""
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
        if one_writer(function, [found[first][0], found[second][0]]):
            return first, second
    return None


def agree_on_orders(module: Draft, name: str) -> None:
    """Let each nest, in the order of the text, run its loops so that the converters in front of it hold the least.

    Orders that its producers suggest are tried, by `reorder`.
    """
    takes: dict[str, list[Buffer]] = {}
    for buffer, stages in _shared(module, name):
        for stage in stages:
            if stage.reads and stage.callee is None and stage.op.name == "affine.for":
                takes.setdefault(string_of(stage.op, "allo.nest") or "", []).append(buffer)
    entry = entry_block(module.function(name))
    assert entry is not None
    order = [string_of(op, "allo.nest") or "" for op in statements(entry)]
    for nest in sorted(takes, key=order.index):
        _agree(module, Nest(name, nest), takes[nest])


def _agree(module: Draft, nest: Nest, taken: Sequence[Buffer]) -> None:
    """Find the best of the orders of the loops of one nest that takes some arrays."""
    band = band_of(module, nest.function, nest.name)
    least, plans = _held(module, nest, taken)
    best = [view.name for view in band]
    tried = [best]
    for source, get in [(plan.source, plan.get) for plan in plans if plan.converter is not None] if least else ():
        names = like(source, get, band)
        if names in tried:
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
    links = []
    for buffer, stages in _shared(module, name):
        writing = [n for n, stage in enumerate(stages) if stage.writes]
        for n, stage in enumerate(stages):
            if writing and writing[0] < n and stage.reads:
                producer = stages[max(w for w in writing if w < n)]
                if stage.callee is None and producer.callee is None:
                    links.append(_link(module, buffer, producer, stage, several=len(writing) > 1))
    order = [string_of(op, "allo.nest") for op in statements(entry) if op.name == "affine.for"]
    used = {kernel for link in links for kernel in (link.producer, link.consumer)}
    kernels = tuple(kernel for kernel in order if kernel is not None and kernel in used)
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
    tile = " x ".join(map(str, converter.tile))
    text = f"{converter.buffered // converter.size} of {tile}"
    return StreamLink(buffer.name, made, taken, total, -(-bits * converter.buffered // 8), "", text)
