"""Orders of FIFOs in the IR, `{allo.itensor = !allo.itensor<...>}`: written, read, and compared with what loops do."""

from __future__ import annotations

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ...errors import InternalError, Note, ScheduleError, counted
from ...ir.access import is_get, is_put
from ...ir.context import context
from ...ir.module import Module
from ...ir.stream_facts import facts_of, made_streams
from ...ir.streams import is_stream_type
from ...ir.walk import buffer_location, entry_block, location_of, statements, string_of
from ...layout import ITensor
from ...poly import extract, runs_of
from ...poly.moved_tokens import misplaced, moved_tokens
from ...poly.token_counts import TokenCount, Uncounted, tokens_of

ITENSOR = "allo.itensor"
CONVERTER = "allo.x_converter"  # of a nest that puts each element that it gets at its places in another order


def type_of(order: ITensor, element: ir.Type) -> ir.Type:
    """The type of MLIR that prints as the order."""
    return allo_d.ITensorType.get(element, order.element, order.trips, order.steps, order.map, order.offset)


def order_of(kind: ir.Type) -> ITensor:
    """What a type of MLIR means."""
    own = allo_d.ITensorType(kind)
    return ITensor(own.shape, own.trips, own.steps, own.factors, own.offset, str(own.element_type))


def declare(fifo: ir.Value, order: ITensor) -> None:
    """Say in which order elements pass through a FIFO; of an array of FIFOs, one for each bank, nothing is said."""
    if isinstance(fifo.type, ir.MemRefType):
        return
    element = allo_d.StreamType(fifo.type).element_type
    fifo.owner.operation.attributes[ITENSOR] = ir.TypeAttr.get(type_of(order, element), context())


def declared(made: ir.Operation) -> ITensor | None:
    """The order that what makes a stream, or an array of streams, says."""
    return order_of(ir.TypeAttr(made.attributes[ITENSOR]).value) if ITENSOR in made.attributes else None


def demand_declared_orders(module: Module) -> None:
    """Raises ScheduleError if loops do not put and take what the orders of FIFOs say, as far as poly can tell."""
    for function in module.functions():
        orders = {made: order for made in made_streams(function) if (order := declared(made)) is not None}
        for made, order in orders.items():
            _demand_count(module, made, order)
        entry = entry_block(function)
        for nest in statements(entry) if entry is not None and orders else ():
            if CONVERTER in nest.attributes:
                _demand_same_places(function, nest, orders)


def confirm_declared_orders(module: Module) -> None:
    """Raises InternalError if a step has made FIFOs whose elements do not pass as it says."""
    try:
        demand_declared_orders(module)
    except ScheduleError as error:
        raise InternalError(error.diagnostics[0].message) from error


def _demand_count(module: Module, made: ir.Operation, order: ITensor) -> None:
    """As many elements as the order has must be put, and must be taken."""
    number = order.tokens if isinstance(_element_of(made), ir.ShapedType) else order.count
    found = _passed(module, made.results[0])
    if found is None:
        return
    for does, count in (("put into", found.puts), ("taken from", found.gets)):
        if count != number:
            facts = facts_of(module, made)
            places = facts.puts if does == "put into" else facts.gets
            raise ScheduleError(
                f"{counted(count, 'element')} {'are' if count > 1 else 'is'} {does} '{facts.name}', "
                f"but {number} pass by its order, {order}",
                notes=[
                    *(Note(f"here elements are {does} it", place) for place in places),
                    Note(f"'{facts.name}' is made here", buffer_location(made.results[0])),
                ],
            )


def _element_of(made: ir.Operation) -> ir.Type:
    kind = made.results[0].type
    return allo_d.StreamType(kind.element_type if isinstance(kind, ir.MemRefType) else kind).element_type


def _passed(module: Module, made: ir.Value) -> TokenCount | None:
    """What passes through a stream, or all streams of an array; None if that is not known."""
    if not isinstance(made.type, ir.MemRefType):
        found = tokens_of(module, made)
        return None if isinstance(found, Uncounted) else found
    puts = gets = 0
    for use in made.uses:
        op = use.owner.operation
        if len(op.results) != 1 or not is_stream_type(op.results[0].type):
            return None
        runs, one = runs_of(op.block, made.owner.operation.block), tokens_of(module, op.results[0])
        if runs.value is None or not runs.exact or isinstance(one, Uncounted):
            return None
        puts, gets = puts + runs.value * one.puts, gets + runs.value * one.gets
    return TokenCount(puts, gets)


def _demand_same_places(function: ir.OpView, nest: ir.Operation, orders: dict[ir.Operation, ITensor]) -> None:
    """A converter must give each element where the order of its result has it."""
    ends = {made: {is_put(op) for op in _users(made, nest)} for made in orders}
    sources = [made for made, sides in ends.items() if sides == {False}]
    results = [made for made, sides in ends.items() if sides == {True}]
    if len(sources) != 1 or len(results) != 1:
        return
    moved = moved_tokens(extract(function, nest), sources[0].results[0], results[0].results[0])
    if moved is None:
        return
    came, went = orders[sources[0]], orders[results[0]]
    wrong = misplaced(moved, came, went)
    if wrong is None:
        return
    names = [string_of(made, "allo.name") for made in (sources[0], results[0])]
    raise ScheduleError(
        f"nest '{string_of(nest, 'allo.nest')}' puts {[*wrong.given]} into '{names[1]}' as element {wrong.number}, "
        f"by the order of '{names[0]}', {came}, but {[*wrong.wanted]} passes there by that of '{names[1]}', {went}",
        notes=[
            Note("the nest is here", location_of(nest)),
            Note(f"'{names[1]}' is made here", buffer_location(results[0].results[0])),
        ],
    )


def _users(made: ir.Operation, nest: ir.Operation) -> list[ir.Operation]:
    """The puts and gets of a stream that are inside of a nest."""
    found = []
    for use in made.results[0].uses:
        op = use.owner.operation
        around = op
        while around != nest and around.parent is not None:
            around = around.parent.operation
        if around == nest and (is_put(op) or is_get(op)):
            found.append(op)
    return found
