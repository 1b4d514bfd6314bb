"""split: one loop becomes two, the inner one of a given extent."""

from __future__ import annotations

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import Builder, affine_dim, i32_attr, index_type, string_attr
from ..ir.module import Module
from ..ir.walk import LoopView, induction_variable
from ..poly import always_whole
from .nest.numbered import Numbered
from .nest.rewrite import check_free_name, compose_affine, constant_for, loop_attributes, move_body
from .step.handles import Loop
from .step.primitive import primitive
from .step.resolve import find_loop, loop_note

type Attributes = dict[str, ir.Attribute]


@primitive(any_layout=True)
def split(module: Module, loop: Loop, factor: int) -> tuple[Loop, Loop]:
    """Tile `loop` by `factor`; a tail is guarded. Returns the handles of the outer and the inner loop.

        for i in range(n):            for i.outer in range(ceil(n / factor)):
            S(i)               ->         for i.inner in range(factor):
                                              if factor * i.outer + i.inner < n:    # only if factor does not divide n
                                                  S(factor * i.outer + i.inner)

    The bounds may depend on loops around it or be known at run time only. A loop that starts at the greatest of
    several values is cut at the multiples of `factor`; of one whose bounds are not affine, the inner loop has the
    values that the loop had. A pipeline goes to the inner loop; a loop unrolled by `u` has an inner one that is
    unrolled by `u`, or fully where `factor` divides `u`, and the outer one by `u / factor`.
    Always legal. Refused: a factor below 1, a `while` loop, a factor that neither divides the one by which the loop is
    unrolled nor is a multiple of it, a loop with another annotation. Source: Allo paper, Table 2.
    """
    return tiled(module, loop, factor)


def tiled(module: Module, loop: Loop, factor: int) -> tuple[Loop, Loop]:
    """Tile a loop; what `split` does and refuses."""
    view = find_loop(module, loop)
    if factor < 1:
        raise ScheduleError(f"factor must be at least 1, got {factor}", notes=[loop_note(view)])
    if view.op.name == "scf.while":
        raise ScheduleError(
            "a `while` loop has no iterations to count, and cannot be split",
            hint="write it as a `for` loop over a range, with a condition inside",
            notes=[loop_note(view)],
        )
    if len(view.op.results):
        raise ScheduleError(
            f"loop '{loop.name}' hands on values from one iteration to the next",
            hint="keep such values in a variable (a memref)",
            notes=[loop_note(view)],
        )
    outer_name, inner_name = f"{loop.name}.outer", f"{loop.name}.inner"
    outer, inner = _attributes(view, factor)
    check_free_name(view, outer_name, inner_name)
    outer["allo.name"], inner["allo.name"] = string_attr(outer_name), string_attr(inner_name)
    if view.op.name == "affine.for":
        _split_affine(view, factor, outer, inner)
    else:
        _split_other(view, factor, outer, inner)
    compose_affine([module.function(loop.function)])
    return Loop(loop.function, loop.nest, outer_name), Loop(loop.function, loop.nest, inner_name)


def _attributes(view: LoopView, factor: int) -> tuple[Attributes, Attributes]:
    """What the outer and the inner loop keep of the annotations of the loop."""
    outer = loop_attributes(view, refused=("allo.parallel", "allo.spatial", "allo.dataflow"))
    inner = {name: view.op.attributes[name] for name in ("allo.pipeline", "allo.rewind") if name in view.op.attributes}
    if "allo.unroll" in view.op.attributes:
        copies = ir.IntegerAttr(view.op.attributes["allo.unroll"]).value
        if copies % factor and factor % copies:
            raise ScheduleError(
                f"loop '{view.name}' is unrolled by {copies}, and tiles of {factor} iterations would cut its groups",
                hint=f"split it by a divisor or a multiple of {copies}, or split first, then unroll",
                notes=[loop_note(view)],
            )
        inner["allo.unroll"] = i32_attr(0 if copies % factor == 0 else copies)
        if copies % factor == 0 and copies != factor:
            outer["allo.unroll"] = i32_attr(copies // factor)
    return outer, inner


def _split_affine(view: LoopView, factor: int, outer: Attributes, inner: Attributes) -> None:
    loop, builder = Numbered.of(view), Builder.before(view.op)
    guarded = loop.trips % factor != 0 if loop.trips is not None else not always_whole(view.op, factor)
    made = builder.affine_for(*loop.tiles(factor), 1, outer)
    builder.point = ir.InsertionPoint.at_block_terminator(made.regions[0].blocks[0])
    below = constant_for(builder, factor, inner)
    builder.point = ir.InsertionPoint.at_block_terminator(below.regions[0].blocks[0])
    variables = [induction_variable(made), induction_variable(below)]
    number = affine_dim(0) * factor + affine_dim(1)
    if guarded or loop.absolute:
        loop.guard(builder, number, variables)
    move_body(view.op, builder.point.block, loop.value(builder, number, variables))


def _split_other(view: LoopView, factor: int, outer: Attributes, inner: Attributes) -> None:
    """Split an `scf.for`: what the tiles are is computed when the loop is reached."""
    builder, index = Builder.before(view.op), index_type()
    kind = view.op.operands[0].type
    given = list(view.op.operands)[:3]
    lower, upper, step = (
        value if value.type == index else builder.value("arith.index_cast", index, [value]) for value in given
    )
    known = None if isinstance(step.owner, ir.Block) else step.owner.operation
    if known is not None and known.name == "arith.constant":
        size = builder.constant(index, ir.IntegerAttr(known.attributes["value"]).value * factor)
    else:
        size = builder.value("arith.muli", index, [step, builder.constant(index, factor)])
    end = builder.value("arith.maxsi", index, [lower, upper])
    above = builder.value("arith.addi", index, [builder.value("arith.subi", index, [end, lower]), size])
    zero, one = builder.constant(index, 0), builder.constant(index, 1)
    count = builder.value("arith.divsi", index, [builder.value("arith.subi", index, [above, one]), size])
    made = builder.scf_for([zero, count, one], outer)
    builder.point = ir.InsertionPoint.at_block_terminator(made.regions[0].blocks[0])
    done = builder.value("arith.muli", index, [induction_variable(made), size])
    start = builder.value("arith.addi", index, [lower, done])
    stop = builder.value("arith.minsi", index, [builder.value("arith.addi", index, [start, size]), upper])
    below = builder.scf_for([start, stop, step], inner)
    builder.point = ir.InsertionPoint.at_block_terminator(below.regions[0].blocks[0])
    variable = induction_variable(below)
    if kind != index:
        variable = builder.value("arith.index_cast", kind, [variable])
    move_body(view.op, builder.point.block, variable)
