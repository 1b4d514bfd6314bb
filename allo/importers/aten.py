"""Operators of PyTorch as layers: a function for each that is read, by the name that exported programs have for it."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ..ir.types import Float
from .aten_elements import ELEMENTS
from .aten_moves import MOVES, Layers, layer
from .aten_windows import WINDOWS
from .composed import group_norm, softmax_along
from .exported import AtenNode, NotImported
from .node_layers import NodeLayers


def _addmm(node: AtenNode) -> Layers:
    alpha, beta, added = node.float("alpha", 1), node.float("beta", 1), node.array("self")
    factors = node.array("mat1"), node.array("mat2")
    if alpha == 1 and beta == 1:
        yield layer(node, "matmul", *factors, added)
        return
    layers, kind = NodeLayers(node), node.type_of(node.outputs[0])
    product = layers.add("product" if beta else "", "matmul", factors, kind)
    if alpha != 1:
        product = layers.each("scaled" if beta else "", "mul", product, alpha)
    if beta:
        more = added if beta == 1 else layers.each("more", "mul", added, beta)
        layers.add("", "add", (product, more), kind)
    yield from layers.made


def _softmax(node: AtenNode) -> Layers:
    name = node.outputs[0]
    yield from softmax_along(name, node.array("self"), node.int("dim"), node.type_of(name), node.origin)


def _layer_norm(node: AtenNode) -> Layers:
    options = {"eps": node.float("eps", 1e-5), "weighted": node.maybe("weight") is not None}
    yield from _rows_normed(node, "layer_norm", (node.maybe("weight"), node.maybe("bias")), **options)


def _rows_normed(node: AtenNode, operator: str, weights: tuple[str | None, ...], **options: Any) -> Layers:
    """The norm of the last dimension, or of several as one."""
    given, source, result = [name for name in weights if name is not None], node.array("input"), node.outputs[0]
    count, kind = len(node.ints("normalized_shape")), node.type_of(result)
    if count == 1:
        yield layer(node, operator, source, *given, **options)
        return
    layers, size = NodeLayers(node), prod(kind.shape[-count:])
    flat = [layers.shaped(f"weight{number}", name, (size,)) for number, name in enumerate(given)]
    rows = layers.shaped("rows", source, (*kind.shape[:-count], size))
    normal = layers.add("normal", operator, (rows, *flat), layers.type_of(rows), **options)
    layers.shaped("", normal, kind.shape)
    yield from layers.made


def _group_norm(node: AtenNode) -> Layers:
    scales = node.maybe("weight"), node.maybe("bias")
    yield from _groups_normed(node, scales, node.int("num_groups"))


def _instance_norm(node: AtenNode) -> Layers:
    if not node.arguments.get("use_input_stats"):
        yield from _batch_norm(node)
        return
    channels, scales = node.type_of(node.array("input")).shape[1], (node.maybe("weight"), node.maybe("bias"))
    yield from _groups_normed(node, scales, channels)


def _groups_normed(node: AtenNode, scales: tuple[str | None, str | None], groups: int) -> Layers:
    name, eps = node.outputs[0], node.float("eps", 1e-5)
    yield from group_norm(name, node.array("input"), scales, groups, eps, node.type_of(name), node.origin)


def _rms_norm(node: AtenNode) -> Layers:
    element = node.type_of(node.outputs[0]).element
    is_double = isinstance(element, Float) and element.width == 64
    default = 2.0**-52 if is_double else 2.0**-23  # that of the type in which squares are added
    yield from _rows_normed(node, "rms_norm", (node.maybe("weight"),), eps=node.float("eps", default))


def _batch_norm(node: AtenNode) -> Layers:
    if node.arguments.get("training"):
        raise NotImported("it is in training mode")
    weight, bias = node.maybe("weight"), node.maybe("bias")
    mean, variance = node.maybe("running_mean"), node.maybe("running_var")
    if mean is None or variance is None:
        raise NotImported("it has no running mean and variance")
    ones, zeros = (1.0 if weight is None else weight), (0.0 if bias is None else bias)
    yield layer(
        node, "batch_norm", node.array("input"), ones, zeros, mean, variance, eps=node.float("eps", 1e-5)
    )


def _attention(node: AtenNode) -> Layers:
    if node.float("dropout_p", 0.0):
        raise NotImported("it drops values at random (dropout_p)")
    size = node.type_of(node.array("query")).shape[-1]
    yield layer(
        node, "attention", node.array("query"), node.array("key"), node.array("value"), node.maybe("attn_mask"),
        causal=bool(node.arguments.get("is_causal")), scale=node.float("scale", size**-0.5),
    )  # fmt: skip


def _linear(node: AtenNode) -> Layers:
    yield layer(node, "linear", node.array("input"), node.array("weight"), node.maybe("bias"))


def _product(first: str, second: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        yield layer(node, "matmul", node.array(first), node.array(second))

    return read


def _fast_path(node: AtenNode) -> Layers:
    raise NotImported(
        "it is a fast path that layers of transformers take: call torch.backends.mha.set_fastpath_enabled(False) before"
    )


READERS: dict[str, Callable[[AtenNode], Layers]] = {
    **MOVES,
    **ELEMENTS,
    **WINDOWS,
    **dict.fromkeys(("softmax.int", "_softmax.default"), _softmax),
    **dict.fromkeys(("batch_norm.default", "_native_batch_norm_legit_no_training.default"), _batch_norm),
    **dict.fromkeys(("layer_norm.default", "native_layer_norm.default"), _layer_norm),
    "group_norm.default": _group_norm,
    "instance_norm.default": _instance_norm,
    "linear.default": _linear,
    "matmul.default": _product("self", "other"),
    "mm.default": _product("self", "mat2"),
    "bmm.default": _product("self", "mat2"),
    "addmm.default": _addmm,
    "rms_norm.default": _rms_norm,
    **dict.fromkeys(("_transformer_encoder_layer_fwd.default", "_native_multi_head_attention.default"), _fast_path),
    "scaled_dot_product_attention.default": _attention,
}  # fmt: skip
