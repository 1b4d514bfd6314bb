"""Writes the exported models of tests/importers/models: small ones, with what PyTorch computes for an input.

python scripts/export_models.py [NAME ...]

needs PyTorch, and not Allo: any Python that PyTorch has a wheel for will do. Each model is a file `NAME.pt2`, without
what is not needed to import it, some in ONNX too (with `onnx`, `onnxscript`), one quantised (`torchao`); `NAME.npz` has
inputs `in0`, ..., results `out0`, ..., of one the values of all nodes. One file, as stored graphs name its lines.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "tests" / "importers" / "models"
torch.manual_seed(0)  # for the inputs
FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\w+)')


class Perceptron(nn.Module):
    inputs = (torch.randn(2, 8),)

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(8, 16), nn.ReLU(), nn.Dropout(), nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 4), nn.Softmax(-1)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Residual(nn.Module):
    def __init__(self, channels: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if stride > 1:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


class ResNet(nn.Module):
    inputs = (torch.randn(1, 3, 12, 12),)

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 7, 2, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU())
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.layer1, self.layer2 = Residual(4, 4, 1), Residual(4, 8, 2)
        self.average = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(8, 10)

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer2(self.layer1(self.pool(self.stem(x))))
        return self.classifier(torch.flatten(self.average(y), 1))


class MobileNet(nn.Module):
    """An inverted residual block, and windows that it does not have: groups, dilation, averages, a norm on its own."""

    inputs = (torch.randn(1, 4, 6, 6),)

    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(4, 8, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6())
        self.depthwise = nn.Sequential(
            nn.Conv2d(8, 8, 3, 1, 1, groups=8, bias=False), nn.BatchNorm2d(8), nn.ReLU6()
        )
        self.project = nn.Sequential(nn.Conv2d(8, 4, 1, bias=False), nn.BatchNorm2d(4))
        self.grouped = nn.Conv2d(4, 8, 3, groups=2, padding=1)
        self.dilated = nn.Conv2d(8, 4, 3, dilation=2, padding=2)
        self.average = nn.AvgPool2d(2)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = x + self.project(self.depthwise(self.expand(x)))
        z = F.leaky_relu(self.dilated(F.hardswish(self.grouped(y))), 0.1)
        return self.norm(self.average(z)), y.mean((2, 3))


class Vgg(nn.Module):
    inputs = (torch.randn(2, 3, 8, 8),)

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2),
        )  # fmt: skip
        self.pool = nn.AdaptiveAvgPool2d((2, 2))
        self.classifier = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 5))

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(torch.flatten(self.pool(self.features(x)), 1))


class RootMeanSquare(nn.Module):
    """The norm as the models of Hugging Face write it; Gemma adds 1 to the weight."""

    def __init__(self, size: int, offset: float = 0.0) -> None:
        super().__init__()
        self.weight, self.offset = nn.Parameter(torch.rand(size) + 0.5), offset

    def forward(self, x: Tensor) -> Tensor:
        normal = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return normal * (self.weight + self.offset) if self.offset else self.weight * normal


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class Attention(nn.Module):
    """Grouped-query attention with rotary positions."""

    def __init__(self, size: int, heads: int, shared: int, bias: bool = False) -> None:
        super().__init__()
        self.heads, self.shared, self.width = heads, shared, size // heads
        self.q = nn.Linear(size, size, bias=bias)
        self.k = nn.Linear(size, shared * self.width, bias=bias)
        self.v = nn.Linear(size, shared * self.width, bias=bias)
        self.o = nn.Linear(size, size, bias=False)
        self.register_buffer("frequencies", 10000.0 ** (-torch.arange(0, self.width, 2) / self.width))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, size = x.shape
        q = self.q(x).view(batch, length, self.heads, self.width).transpose(1, 2)
        k, v = (f(x).view(batch, length, self.shared, self.width).transpose(1, 2) for f in (self.k, self.v))
        angles = torch.outer(torch.arange(length).float(), self.frequencies).repeat(1, 2)
        q, k = (rotated(array, angles.cos(), angles.sin()) for array in (q, k))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.heads != self.shared)
        return self.o(y.transpose(1, 2).reshape(batch, length, size))


class Llama(nn.Module):
    inputs = (torch.randn(1, 6, 16),)

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = RootMeanSquare(16), nn.RMSNorm(16)
        self.attention = Attention(16, 4, 2)
        self.gate, self.up, self.down = (nn.Linear(*sizes, bias=False) for sizes in ((16, 24), (16, 24), (24, 16)))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Lengths(nn.Module):
    """Attention of a length that is not known, behind a sum over half of it."""

    inputs = (torch.randn(1, 6, 8),)
    dynamic = ({1: torch.export.Dim("length", min=2, max=64) * 2},)

    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention(8, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        half = x.shape[1] // 2
        return self.attention(x) + torch.cat((x[:, half:], x[:, :half]), 1) * half


class Gemma(nn.Module):
    """Multi-query attention, biases as in Qwen2, and the gate of Gemma."""

    inputs = (torch.randn(2, 5, 16),)

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = RootMeanSquare(16, 1.0), RootMeanSquare(16, 1.0)
        self.attention = Attention(16, 4, 1, bias=True)
        self.gate, self.up, self.down = (nn.Linear(*sizes, bias=False) for sizes in ((16, 24), (16, 24), (24, 16)))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        y = self.norm2(x)
        return x + self.down(F.gelu(self.gate(y), approximate="tanh") * self.up(y))


class Gpt2(nn.Module):
    """Token numbers to logits, with attention and GELU written out."""

    inputs = (torch.randint(0, 16, (6,)),)

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(16, 16), nn.Embedding(8, 16)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(16) for _ in range(3))
        self.qkv, self.projection = nn.Linear(16, 48), nn.Linear(16, 16)
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)
        self.head = nn.Linear(16, 16, bias=False)

    def attention(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        q, k, v = (part.view(1, length, 4, 4).transpose(1, 2) for part in self.qkv(x).split(16, -1))
        visible = torch.tril(torch.ones(length, length, dtype=torch.bool))
        scores = torch.where(visible, q @ k.transpose(-1, -2) / 2, torch.finfo(x.dtype).min)
        return self.projection((scores.softmax(-1) @ v).transpose(1, 2).reshape(1, length, 16))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids[None]) + self.positions(torch.arange(ids.shape[0]))
        x = x + self.attention(self.norm1(x))
        y = self.up(self.norm2(x))
        y = 0.5 * y * (1.0 + torch.tanh(0.7978845608 * (y + 0.044715 * torch.pow(y, 3.0))))
        return self.head(self.norm3(x + self.down(y)))


class Decode(nn.Module):
    """One step of attention with a cache, which is state of the model."""

    inputs = (torch.randn(1, 1, 16), torch.tensor([3]))

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(16, 16) for _ in range(3))
        self.register_buffer("keys", torch.zeros(1, 4, 8, 4))
        self.register_buffer("values", torch.zeros(1, 4, 8, 4))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x: Tensor, position: Tensor) -> tuple[Tensor, Tensor]:
        before = self.count.clone()
        self.count.add_(1)
        q, k, v = (f(x).view(1, 1, 4, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        visible = (torch.arange(8) <= position)[None, None, None]
        y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=visible)
        return y.transpose(1, 2).reshape(1, 1, 16), before


class Generator(nn.Module):
    """A language model of 24 tokens: a block with a cache for 40 positions, from a token to the scores of the next."""

    inputs = (torch.tensor([5]), torch.tensor([0]))

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(24, 16), nn.Embedding(40, 16)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(16) for _ in range(3))
        self.qkv, self.out, self.up, self.down, self.scores = (
            nn.Linear(*shape) for shape in ((16, 48), (16, 16), (16, 32), (32, 16), (16, 24))
        )
        self.register_buffer("keys", torch.zeros(1, 4, 40, 4))
        self.register_buffer("values", torch.zeros(1, 4, 40, 4))

    def forward(self, token: Tensor, position: Tensor) -> Tensor:
        x = (self.tokens(token) * 4 + self.places(position))[None]
        q, k, v = (part.view(1, 1, 4, 4).transpose(1, 2) for part in self.qkv(self.norm1(x)).split(16, 2))
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        visible = (torch.arange(40) <= position)[None, None, None]
        y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=visible)
        x = x + self.out(y.transpose(1, 2).reshape(1, 1, 16))
        x = x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))
        return self.scores(self.norm3(x))


class CacheAsArgument(nn.Module):
    """The same with a cache that goes in and comes out, and a mask of floats."""

    inputs = (torch.randn(1, 2, 1, 4), torch.randn(1, 2, 5, 4), torch.zeros(1, 1, 1, 6))

    def forward(self, x: Tensor, cache: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        longer = torch.cat((cache, x), 2)
        return F.scaled_dot_product_attention(x, longer, longer, attn_mask=mask), longer


class Elements(nn.Module):
    """Operators on single elements, with numbers and broadcasting."""

    inputs = (torch.randn(3, 4), torch.rand(4) + 0.5, torch.randint(-5, 5, (3, 4)))

    def forward(self, x: Tensor, y: Tensor, n: Tensor) -> tuple[Tensor, ...]:
        floats = torch.exp(-x.abs()) + torch.log(y) * torch.sqrt(y) - torch.rsqrt(y) / y.reciprocal()
        more = torch.sin(x) * torch.cos(x) + torch.erf(x) + torch.sigmoid(x) + F.silu(x) + x.clamp(-0.5, 0.7)
        powers = y**2 + y**3 + y**0.5 + y**-0.5 + y**1.7 + x.square() + torch.pow(y, y)
        chosen = torch.where((x > 0) & ~(y <= 0.9), torch.maximum(x, y), torch.minimum(x, y) * 2)
        gates = F.hardsigmoid(x) + F.relu6(x) + F.gelu(x, approximate="tanh") + torch.add(x, y, alpha=0.5)
        whole = n * 2 + torch.where(n == 3, n, -n) - torch.sub(n, 1, alpha=3)
        return floats, more, powers, chosen, gates, whole, n.to(torch.float32) * x, (n >= 0) | (x < y)


class Moves(nn.Module):
    """Shapes, orders, parts, and sums along dimensions."""

    inputs = (torch.randn(2, 3, 4), torch.tensor([2, 0, 1]))

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(20.0).reshape(4, 5))
        self.register_buffer("rows", torch.tensor([[3], [0], [2]]))
        self.register_buffer("columns", torch.tensor([4, 1, 1, 0]))

    def forward(self, x: Tensor, index: Tensor) -> tuple[Tensor, ...]:
        first, second, third = x.unbind(1)
        joined = torch.cat((first, second * third, first[:, 1:3]), 1)
        merged = x.permute(2, 0, 1).reshape(4, 6) @ x.reshape(6, 4)
        parts = x[:, :, ::2].flatten(1) + x[:, 1:, -3:].reshape(2, 6).expand(2, 6)
        sums = x.sum(1), x.sum((0, 2), keepdim=True), x.mean(-1), x.amax(1, keepdim=True), x.mean((1, 2), keepdim=True)
        added = torch.addmm(first @ first.t(), first, third.t())
        products = torch.bmm(x, x.transpose(1, 2)), torch.mm(first, second.t()), added
        picked = x.index_select(1, index), x[:, index], F.softmax(x, 1).view(2, 12), F.layer_norm(x, (4,))
        parts = parts.sum() * self.table[self.rows, self.columns]
        return joined, merged, parts, *sums, *products, *picked, x.view(3, 8), x.squeeze().unsqueeze(0) * 2


class Odd(nn.Module):
    """What is seldom written: images without a batch, subscripts from the end, infinities, numbers of another type."""

    inputs = (torch.randn(2, 5, 6), torch.tensor([-1, 0, -2]), torch.tensor([-128, 127, 0], dtype=torch.int8))

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(2, 3, 3)
        self.register_buffer("hidden", torch.tensor([True, False, False, True, False, False]))

    def forward(self, image: Tensor, index: Tensor, n: Tensor) -> tuple[Tensor, ...]:
        windows = self.convolution(image), F.max_pool2d(image, 3, padding=1), F.avg_pool2d(image, 2)
        options = {"stride": 3, "padding": 1, "ceil_mode": True}
        windows += F.max_pool2d(image, 2, dilation=2, **options), F.avg_pool2d(image, (2, 3), **options)
        windows += F.avg_pool2d(image, 2, count_include_pad=False, **options), F.avg_pool2d(image, 4, 3, ceil_mode=True)
        parts = image[:, index], image[:, torch.tensor([-1, 0])], image.index_copy(1, index + 2, image[:, :3])
        chosen = image.masked_fill(self.hidden, -torch.inf).softmax(-1)
        compared = (n < 0.5, index == 0.5, n > -1000, index < 2**40, n >= index, (image > 0) == 1)
        return *windows, *parts, chosen, *compared, n.abs(), index, image.clamp(-torch.inf, 0.5)


class Swap(nn.Module):
    """State that is read before it changes, and that changes places with another one."""

    inputs = (torch.randn(1, 3), torch.tensor([1]))

    def __init__(self) -> None:
        super().__init__()
        for name in ("first", "second", "rows"):
            self.register_buffer(name, torch.zeros(2, 3))

    def forward(self, x: Tensor, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        first, second, rows = self.first + 1, self.second - 1, self.rows.clone()
        self.first.copy_(first), self.second.copy_(second)
        kept = self.first.clone()
        self.first.copy_(self.second), self.second.copy_(kept)
        self.rows.index_copy_(0, index, x)
        return rows, self.rows + x, kept


class Quantized(nn.Module):
    """Quantised values and weights: for each channel, for each group of columns, with zeros."""

    inputs = (torch.randn(1, 2, 5, 5),)

    def __init__(self) -> None:
        super().__init__()
        import torch.ao.quantization.fx._decomposed  # registers the operators

        made = torch.Generator().manual_seed(1)
        shapes = {"kernel": (3, 2, 3, 3), "first": (4, 12), "second": (5, 4)}
        for name, shape in shapes.items():
            low = -8 if name == "first" else -127
            self.register_buffer(name, torch.randint(low, -low, shape, generator=made, dtype=torch.int8))
            scales = (4, 3) if name == "first" else shape[:1]
            self.register_buffer(f"{name}_scales", torch.rand(scales, generator=made) / 50 + 0.01)
        self.register_buffer("zeros", torch.zeros(5, dtype=torch.int64))
        self.bias = nn.Parameter(torch.rand(5))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        ops = torch.ops.quantized_decomposed
        unsigned, signed = (0, 255, torch.uint8), (-128, 127, torch.int8)
        image = ops.quantize_per_tensor(x, 0.021, 119, *unsigned)
        kernel = ops.dequantize_per_channel(self.kernel, self.kernel_scales, self.zeros[:3], 0, *signed)
        y = F.relu(F.conv2d(ops.dequantize_per_tensor(image, 0.021, 119, *unsigned), kernel, padding=1, stride=2))
        y = ops.quantize_per_tensor(y.flatten(1)[:, :12], 0.05, -128, *signed)
        first = ops.dequantize_per_channel_group(
            self.first, self.first_scales, torch.zeros(4, 3, dtype=torch.int32), -8, 7, torch.int8, 4, torch.float32
        )
        z = F.linear(ops.dequantize_per_tensor(y, 0.05, -128, *signed), first)
        whole = ops.quantize_per_tensor(z, 0.03, 0, *signed)
        second = ops.dequantize_per_channel(self.second, self.second_scales, self.zeros, 0, *signed)
        result = F.linear(ops.dequantize_per_tensor(whole, 0.03, 0, *signed), second, self.bias)
        each = ops.quantize_per_channel(result, self.second_scales * 4, self.zeros + 3, 1, *signed)
        return image, y, whole, result, each


class Rounding(nn.Module):
    """Arithmetic that is written as formulas, on numbers near 0 and halves too, and on integers."""

    inputs = (
        torch.cat([torch.randn(11) * 3, torch.tensor([0.5, 1.5, -2.5, 1e-6, -1e-6])]),
        torch.cat([torch.randn(15), torch.tensor([0.25])]), torch.tensor([-7, 7, 9, -9]), torch.tensor([2, -2, 4, 4]),
    )  # fmt: skip

    def forward(self, x: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        size = x.abs()
        return (
            F.elu(x), F.celu(x, 0.5), F.selu(x), F.softplus(x), F.mish(x), F.logsigmoid(x), F.hardshrink(x), x.sign(),
            x.floor(), x.ceil(), x.round(), x.trunc(), x.log1p().nan_to_num(0.0, 0.0, 0.0), x.expm1(), x.sinh(),
            x.cosh(), x.tan(), torch.exp2(x), size.log2(), size.log10(), torch.fmod(x, y), torch.remainder(x, y),
            x.div(y, rounding_mode="floor"), x.div(y, rounding_mode="trunc"), x // 0.1, torch.hypot(x, y),
            torch.clamp(x, max=y), torch.isinf(size * 1e38), (x > 0) ^ (y > 0), a // b, a.div(b, rounding_mode="trunc"),
            a % b, torch.fmod(a, b), a / b, a**2, (a > 0) * (b > 0),
        )  # fmt: skip


class Extremes(nn.Module):
    """What is taken along dimensions, with ties."""

    inputs = (torch.randn(3, 4, 5), torch.tensor([[3, -1, 3], [-128, 127, -128]], dtype=torch.int8))

    def forward(self, x: Tensor, n: Tensor) -> tuple[Tensor, ...]:
        return (
            *x.max(1), *x.min(-1, keepdim=True), x.argmax(0), x.argmin()[None], x.amin((0, 2)), n.max(1)[1], *n.min(1),
            n.amin()[None], x.var((0, 1)), x.std(-1, correction=0), *torch.var_mean(x, 1, keepdim=True), (x > 1).any(1),
            (x > -1).all()[None], (x > 0).sum(-1), F.log_softmax(x, 1), torch.logsumexp(x, -1),
        )  # fmt: skip


class Images(nn.Module):
    """Rows, transposed convolutions, borders, other sizes, windows that differ, norms of several dimensions."""

    inputs = (torch.randn(1, 4, 5, 7), torch.randn(2, 4, 9))

    def __init__(self) -> None:
        super().__init__()
        self.wider = nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=(1, 0), groups=2)
        self.rows = nn.Sequential(nn.Conv1d(4, 6, 3, padding=1), nn.BatchNorm1d(6), nn.ReLU(), nn.MaxPool1d(2))
        self.longer = nn.ConvTranspose1d(6, 2, 2, stride=2, bias=False)
        self.norm, self.squares = nn.LayerNorm([5, 7]), nn.RMSNorm([4, 5, 7])

    def forward(self, x: Tensor, rows: Tensor) -> tuple[Tensor, ...]:
        return (
            self.wider(x), self.longer(self.rows(rows)), self.norm(x), self.squares(x),
            F.adaptive_avg_pool2d(x, (2, 3)), F.adaptive_max_pool2d(x, (5, 1)), F.pad(x, (1, 2, -1, 1), value=1.5),
            F.interpolate(x, scale_factor=2), F.interpolate(x, size=(3, 9)),
            F.interpolate(x, size=(10, 5), mode="bilinear"),
            F.interpolate(x, size=(7, 4), mode="bilinear", align_corners=True),
            F.interpolate(rows, scale_factor=1.5, mode="nearest-exact"), F.unfold(x, 3, padding=1, stride=2),
        )  # fmt: skip


class Places(nn.Module):
    """Elements in other places: turned, taken and set."""

    inputs = (torch.randn(4, 3, 5),)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y = x.clone()
        y[0], y[:, 1] = 1.0, x[:, 0] * 2
        y[1:3, ::2] += x[:2, 1:]
        y[y > 2] = 0.0
        return (
            y, x.flip(-1), x.flip(0, 2), x.roll((1, -2), (0, 2)), torch.diagonal(x, 1, 0, 2),
            torch.diagonal(x, -1, 1, 2), torch.einsum("iji->ij", x[..., :4]),
            x[[0, 3], :, [4, -1]], x[:, [0, 2], [1, 1]], torch.addmm(x[0], x[:3, 0, :3], x[1], alpha=2.0, beta=0.5),
        )  # fmt: skip


class Refused(nn.Module):
    """What no kernel means."""

    inputs = (torch.randn(3, 3),)

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Conv3d(1, 1, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return torch.sort(x)[0], torch.cumprod(x, 0), self.inner(x.reshape(1, 1, 1, 3, 3))


class TorchAo(ResNet):
    """The residual network with layers of int8, and a scale for each channel of weights, as torchao makes it."""


class Mixed(nn.Module):
    """Numbers as truth values, integers where floats are made of them, subscripts for each element, empty parts,
    and padding by name."""

    inputs = (torch.randn(3, 4), torch.randint(0, 4, (3, 4)))

    def __init__(self) -> None:
        super().__init__()
        self.valid = nn.Conv2d(1, 2, (1, 2), (2, 1), "valid", (1, 2))
        self.same = nn.Conv2d(1, 2, (2, 3), padding="same", dilation=(1, 2))

    def forward(self, x: Tensor, n: Tensor) -> tuple[Tensor, ...]:
        return (
            self.valid(x[None]), self.same(x[None]), F.pad(x[None], (1, 2), mode="circular"),
            torch.logical_xor(x, n), torch.logical_and(n, n > 2), torch.logical_or(n, x * 0), torch.logical_not(n),
            n.sqrt(), torch.sigmoid(x > 0), n**0.5, torch.pow(x.abs() + 1, n), 7 % (n + 1), n.to(torch.uint8).any(1),
            torch.div(n, x, rounding_mode="floor"), torch.div(n, 0.3, rounding_mode="trunc"),
            torch.div(n, n + 1, rounding_mode=None), x.gather(1, n), x.gather(0, n % 3),
            x.gather(1, torch.tensor([[3, 0], [1, 1]])),
            torch.cat((x[:0], x, x[2:]), 0), torch.cat((x[:, 4:], x, x[:, 4:]), -1),
        )  # fmt: skip


class Sixteen(nn.Module):
    """Floats of 16 bits, whose sums have 32."""

    inputs = (torch.randn(2, 600),)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        found: list[Tensor] = []
        for kind in (torch.bfloat16, torch.float16):
            ones, y = (x == x).to(kind), x.to(kind)
            image, kernel = ones.view(2, 6, 10, 10), (x > -9).to(kind).view(2, 6, 10, 10)
            found += [ones @ ones.T, F.linear(ones, ones, ones[0, :2]), ones.sum(1), ones.mean(1, keepdim=True)]
            found += [F.conv2d(image, kernel), F.conv2d(image, kernel[:, :3], groups=2)]
            found += [F.avg_pool2d(ones[None], (2, 600)), y.mean(0, dtype=torch.float32)]
            found += [F.layer_norm(y * 100, (600,)), F.rms_norm(y * 0.01, (600,)), (y * 0.01).softmax(-1)]
            found += [F.scaled_dot_product_attention(y[:, :8].T, y[:, 8:].T, y[:, 8:].T)]
        return tuple(value.float() for value in found)


class Depends(nn.Module):
    """What has an extent, or is a number, that elements decide."""

    inputs = (torch.randn(3, 3),)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return torch.nonzero(x) + 1, x * x.sum().item(), x[x > 0]


def with_integers(model: nn.Module, inputs: tuple[Tensor, ...]) -> nn.Module:
    """The model as torchao quantises it for two samples (its PT2E flow)."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.testing.pt2e._xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    watched = prepare_pt2e(torch.export.export(model, inputs).module(), quantizer)
    made = torch.Generator().manual_seed(1)
    for sample in (inputs, tuple(torch.randn(value.shape, generator=made) for value in inputs)):
        watched(*sample)
    return convert_pt2e(watched)


def stripped(archive: bytes) -> bytes:
    """The archive without inputs, and with one line of the program for each node, in a file without its folder."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            content = source.read(name)
            if "/sample_inputs/" in name or "/.data/" in name:
                continue
            if name.endswith("models/model.json"):
                program = json.loads(content)
                for node in program["graph_module"]["graph"]["nodes"]:
                    node["metadata"] = _short(node["metadata"])
                content = json.dumps(program, separators=(",", ":")).encode()
            info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            target.writestr(info, content, zipfile.ZIP_DEFLATED, 9)
    return made.getvalue()


def _short(metadata: dict[str, str]) -> dict[str, str]:
    frames = FRAME.findall(metadata.get("stack_trace", ""))
    own = [(line, function) for file, line, function in frames if Path(file) == Path(__file__)]
    kept = {"nn_module_stack": metadata.get("nn_module_stack", "")}
    if own:
        line, function = own[-1]
        kept["stack_trace"] = f'File "{Path(__file__).name}", line {line}, in {function}'
    return kept


def onnx_model(model: nn.Module, inputs: tuple[Tensor, ...]) -> bytes:
    """The model in ONNX, with one line of the program for each node."""
    program = torch.onnx.export(model, inputs, dynamo=True, opset_version=23, verbose=False, optimize=True)
    assert program is not None
    proto = program.model_proto
    for node in proto.graph.node:
        noted = {entry.key.removeprefix("pkg.torch.onnx."): entry.value for entry in node.metadata_props}
        short = _short({"stack_trace": noted.get("stack_trace", "")})
        del node.metadata_props[:]
        for key, value in (("name_scopes", noted.get("name_scopes")), ("stack_trace", short.get("stack_trace"))):
            if value:
                node.metadata_props.add(key=f"pkg.torch.onnx.{key}", value=value)
    for value in (*proto.graph.input, *proto.graph.output, *proto.graph.value_info, *proto.graph.initializer):
        del value.metadata_props[:]
    del proto.graph.metadata_props[:], proto.metadata_props[:]
    return proto.SerializeToString()


def write(kind: type[nn.Module], values: bool) -> None:
    """Export one model with random weights, rounded so that they pack well."""
    spec = importlib.util.spec_from_file_location("export", ROOT / "allo" / "importers" / "export.py")
    assert spec is not None and spec.loader is not None
    export = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(export)
    torch.manual_seed(0)
    model, name = kind().eval(), kind.__name__.lower()
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d):
                for array in (module.weight, module.bias, module.running_mean, module.running_var):
                    array.uniform_(0.5, 1.5)
            if isinstance(module, nn.LayerNorm):
                module.weight.uniform_(0.5, 1.5), module.bias.uniform_(-0.5, 0.5)
        for parameter in model.parameters():
            parameter.copy_((parameter * 64).round() / 64)
    inputs = kind.inputs
    if kind is TorchAo:
        model = with_integers(model, inputs)
    archive = export.exported(model, inputs, dynamic=getattr(kind, "dynamic", None))
    found = {f"in{number}": value.numpy().copy() for number, value in enumerate(inputs)}
    if values:
        found |= {f"value_{node}": value for node, value in export.values_of_nodes(archive, inputs).items()
                  if not node.startswith(("p_", "b_")) and value.dtype == np.float32}  # fmt: skip
    with torch.no_grad():
        results = model(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    found |= {f"out{number}": value.numpy() for number, value in enumerate(results)}
    if kind is Generator:  # what it says after the first token, each time the most likely one, and the last scores
        said, scores = [int(inputs[0])], results[0]
        with torch.no_grad():
            for position in range(1, 33):
                said.append(int(scores.argmax()))
                scores = model(torch.tensor([said[-1]]), torch.tensor([position]))
        found |= {"said": np.array(said), "scores": scores.numpy()}
    found |= {f"state_{buffer}": value.numpy() for buffer, value in model.named_buffers() if kind in (Decode, Swap)}
    (MODELS / f"{name}.pt2").write_bytes(stripped(archive))
    if kind in AS_ONNX:
        packed = gzip.compress(onnx_model(model, inputs), mtime=0)
        (MODELS / f"{name}.onnx.gz").write_bytes(packed)
    if kind not in (Refused, Depends):
        np.savez_compressed(MODELS / f"{name}.npz", **found)


ALL = (
    Perceptron, ResNet, MobileNet, Vgg, Llama, Gemma, Gpt2, Decode, Generator, CacheAsArgument, Elements, Moves, Odd,
    Swap, Quantized, Lengths, Rounding, Extremes, Images, Places, Refused, TorchAo, Mixed, Sixteen,
    Depends,
)  # fmt: skip

AS_ONNX = (ResNet, MobileNet, Llama, CacheAsArgument, Elements, Moves)


if __name__ == "__main__":
    torch.manual_seed(0)
    MODELS.mkdir(parents=True, exist_ok=True)
    for model in ALL:
        if not sys.argv[1:] or model.__name__ in sys.argv[1:]:
            write(model, values=model is ResNet)
