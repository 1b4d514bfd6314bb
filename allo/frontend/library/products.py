"""matmul (and the operator `@`), bmm, linear: products of matrices."""

from __future__ import annotations

from ...errors import counted
from ...ir.types import Float, shape_text
from ..typing.nodes import Expr
from ..typing.view import View, broadcast_shape
from .call import OperatorCall, placeholder
from .structured import Subscript, Subscripts, along
from .sums import Reduction, sum_type, sums, zero


def matmul(call: OperatorCall) -> View | Expr | None:
    """`A @ B`, where all but the last two dimensions are batches that broadcast."""
    a, b = call.array("A"), call.array("B")
    if a is None or b is None:
        return None
    result = _product(call, a, b)
    return result.read(()) if result is not None and not result.type.shape else result


def bmm(call: OperatorCall) -> View | None:
    """`A[b] @ B[b]` for every b."""
    a, b = call.array("A", 3, "(B, M, K)"), call.array("B", 3, "(B, K, N)")
    if a is None or b is None:
        return None
    if a.type.shape[0] != b.type.shape[0]:
        shapes = f"{shape_text(a.type.shape)} and {shape_text(b.type.shape)}"
        call.error(f"bmm() needs as many matrices in 'A' as in 'B', but their shapes are {shapes}")
        return None
    return _product(call, a, b)


def _inner(call: OperatorCall, a: View, b: View, own: int, other: int, hint: str | None = None) -> bool:
    """Whether the dimensions that are summed over have the same extent."""
    first, second = a.type.shape, b.type.shape
    if first[own] == second[other]:
        return True
    call.error(
        f"{call.name}() sums over dimension {own % len(first)} of {shape_text(first)} and dimension "
        f"{other % len(second)} of {shape_text(second)}, which have {first[own]} and {second[other]} elements",
        hint,
    )
    return False


def _product(call: OperatorCall, a: View, b: View) -> View | None:
    first, second = a.type.shape, b.type.shape
    transposed = len(second) > 1 and first[-1] == second[-1] and first[-1] != second[-2]
    hint = "transpose the second one: `B.T`" if transposed and len(second) == 2 else None
    if not _inner(call, a, b, -1, -2 if len(second) > 1 else -1, hint):
        return None
    batch = broadcast_shape([first[:-2], second[:-2]])
    if batch is None:
        shapes = f"{shape_text(first)} and {shape_text(second)}"
        call.error(f"{call.name}() of arrays of shapes {shapes}: the dimensions before the last two do not broadcast")
        return None
    names = [("b" if len(batch) == 1 else f"b{d}", extent) for d, extent in enumerate(batch)]
    rows = [("i", first[-2])] if len(first) > 1 else []
    columns = [("j", second[-1])] if len(second) > 1 else []
    loops = (*names, *rows, *columns, ("k", first[-1]))
    k = len(loops) - 1
    left = (*_batch(first[:-2], batch), *along(*([len(batch)] if rows else [])), *along(k))
    columns_at = along(*([k - 1] if columns else []))
    right = (*_batch(second[:-2], batch), *along(k), *columns_at)
    operation = "generic"
    if rows and columns and len(batch) <= 1 and len(first) == len(second):
        operation = "batch_matmul" if batch else "matmul"
    return _reduction(call, loops, a, left, b, right, operation)


def _batch(shape: tuple[int, ...], batch: tuple[int, ...]) -> Subscripts:
    """The subscripts of the batch dimensions of an operand: 0 where it has one matrix for all."""
    result: list[Subscript] = []
    for d, extent in enumerate(shape, start=len(batch) - len(shape)):
        result.append((0, ()) if extent == 1 and batch[d] != 1 else along(d)[0])
    return tuple(result)


def _reduction(
    call: OperatorCall,
    loops: tuple[tuple[str, int], ...],
    a: View,
    left: Subscripts,
    b: View,
    right: Subscripts,
    operation: str,
    bias: View | None = None,
) -> View | None:
    term = call.combine("*", placeholder(a.type.element, call.at), placeholder(b.type.element, call.at))
    if term is None:
        return None
    exact = sum_type(call, term.type, loops[-1][1])
    start = zero(call) if bias is None else bias
    if bias is not None:
        total = call.combine("+", placeholder(exact, call.at), placeholder(bias.type.element, call.at))
        if total is None:
            return None
        exact = total.type
    reduction = Reduction(loops, 1, ((a, left), (b, right)), exact, operation, sums(call), start)
    return reduction.result(call)


def linear(call: OperatorCall) -> View | None:
    """`X @ W.T + b`."""
    x, w = call.array("X"), call.array("W", 2, "(outputs, inputs)")
    bias = call.array("b", 1, "(outputs,)") if "b" in call.arguments else None
    if x is None or w is None or ("b" in call.arguments and bias is None):
        return None
    if not _inner(call, x, w, -1, -1, "the weights have the shape (outputs, inputs)"):
        return None
    outputs = w.type.shape[0]
    if bias is not None and bias.type.shape != (outputs,):
        call.error(
            f"linear() needs a bias for each of {counted(outputs, 'output')}, but 'b' has the shape "
            f"{shape_text(bias.type.shape)}",
            None,
            "b",
        )
        return None
    rows = x.type.shape[:-1]
    names = ["i"] if len(rows) == 1 else [*(f"b{d}" for d in range(len(rows) - 1)), "i"][: len(rows)]
    loops = (*zip(names, rows, strict=True), ("j", outputs), ("k", w.type.shape[1]))
    rank = len(rows)
    operation = "matmul" if rank == 1 else "generic"
    if isinstance(x.type.element, Float) != isinstance(w.type.element, Float):
        operation = "generic"
    return _reduction(call, loops, x, along(*range(rank), rank + 1), w, along(rank, rank + 1), operation, bias)
