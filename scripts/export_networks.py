"""Writes networks for images of 32 x 32 and a block of GPT-2, in published shapes, for `benchmarks.accelerators`.

python scripts/export_networks.py FOLDER [NAME ...]

needs PyTorch, and not Allo. Weights are random. VGG16, ResNet-18 and the MobileNets are those that are usual for
CIFAR-10: a first convolution of step 1, and one linear layer at the end. The block of GPT-2 medium is 1024 wide, with
16 heads, for 32 tokens.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

IMAGE = (torch.zeros(1, 3, 32, 32),)


def unit(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, groups: int = 1, act: bool = True) -> nn.Module:
    """A convolution with its norm, and ReLU."""
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs), *([nn.ReLU()] if act else []))


class Classifier(nn.Module):
    """Layers, an average over the image, and a linear layer."""

    inputs = IMAGE

    def __init__(self, layers: list[nn.Module], channels: int) -> None:
        super().__init__()
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x).mean((2, 3)))


class Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first, self.second = unit(inputs, outputs, 3, stride), unit(outputs, outputs, act=False)
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else unit(inputs, outputs, 1, stride, act=False)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.second(self.first(x)) + self.shortcut(x))


class Inverted(nn.Module):
    """The block of MobileNetV2: wider, along the image, narrower again."""

    def __init__(self, inputs: int, outputs: int, stride: int, wider: int) -> None:
        super().__init__()
        inside = inputs * wider
        self.layers = nn.Sequential(
            *([unit(inputs, inside, 1)] if wider > 1 else []),
            unit(inside, inside, 3, stride, groups=inside),
            unit(inside, outputs, 1, act=False),
        )
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.adds else self.layers(x)


class GPT2Block(nn.Module):
    inputs = (torch.zeros(1, 32, 1024),)
    heads = 16

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(1024), nn.LayerNorm(1024)
        self.attention, self.project = nn.Linear(1024, 3072), nn.Linear(1024, 1024)
        self.wide, self.narrow = nn.Linear(1024, 4096), nn.Linear(4096, 1024)

    def forward(self, x: Tensor) -> Tensor:
        parts = self.attention(self.norm1(x)).split(1024, -1)
        q, k, v = (part.view(1, 32, self.heads, 64).transpose(1, 2) for part in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(mixed.transpose(1, 2).reshape(1, 32, 1024))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x)), approximate="tanh"))


class GPT2Step(GPT2Block):
    """The same block for one token, behind up to 63 in a cache, which is state."""

    inputs = (torch.zeros(1, 1, 1024), torch.tensor([3]))

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, self.heads, 64, 64))
        self.register_buffer("values", torch.zeros(1, self.heads, 64, 64))

    def forward(self, x: Tensor, position: Tensor) -> Tensor:
        parts = self.attention(self.norm1(x)).split(1024, -1)
        q, k, v = (part.view(1, 1, self.heads, 64).transpose(1, 2) for part in parts)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        visible = (torch.arange(64) <= position)[None, None, None]
        mixed = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=visible)
        x = x + self.project(mixed.transpose(1, 2).reshape(1, 1, 1024))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x)), approximate="tanh"))


def vgg16() -> nn.Module:
    layers: list[nn.Module] = []
    channels = 3
    for width, number in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(number):
            layers.append(unit(channels, width))
            channels = width
        layers.append(nn.MaxPool2d(2))
    return Classifier(layers, 512)


def resnet18() -> nn.Module:
    layers = [unit(3, 64)]
    channels = 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Residual(channels, width, stride), Residual(width, width, 1)]
        channels = width
    return Classifier(layers, 512)


def mobilenet() -> nn.Module:
    layers = [unit(3, 32)]
    channels = 32
    steps = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for width, stride in steps:
        layers += [unit(channels, channels, 3, stride, groups=channels), unit(channels, width, 1)]
        channels = width
    return Classifier(layers, channels)


def mobilenet_v2() -> nn.Module:
    layers = [unit(3, 32)]
    channels = 32
    rows = [(1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for wider, width, number, stride in rows:
        for n in range(number):
            layers.append(Inverted(channels, width, stride if n == 0 else 1, wider))
            channels = width
    return Classifier([*layers, unit(channels, 1280, 1)], 1280)


NETWORKS = {
    "vgg16": vgg16, "mobilenet": mobilenet, "mobilenet_v2": mobilenet_v2, "resnet18": resnet18, "gpt2": GPT2Block,
    "gpt2_step": GPT2Step,
}  # fmt: skip


def main() -> None:
    root = Path(__file__).resolve().parents[1]
    spec = importlib.util.spec_from_file_location("export", root / "allo" / "importers" / "export.py")
    assert spec is not None and spec.loader is not None
    export = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(export)
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for name in sys.argv[2:] or NETWORKS:
        torch.manual_seed(0)
        model = NETWORKS[name]()
        (folder / f"{name}.pt2").write_bytes(export.exported(model, model.inputs))


if __name__ == "__main__":
    main()
