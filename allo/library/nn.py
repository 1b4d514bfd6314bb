"""Layers of neural networks, on matrices and images, and attention: what `allo.library.nn` offers."""

from .attention import (
    ffn,
    multi_head_attention,
    scaled_dot_product_attention,
    schedule_ffn,
    schedule_multi_head_attention,
    schedule_scaled_dot_product_attention,
)
from .images import (
    avgpool2d,
    batchnorm2d,
    conv2d,
    maxpool2d,
    schedule_avgpool2d,
    schedule_batchnorm2d,
    schedule_conv2d,
    schedule_conv2d_with_reuse,
    schedule_maxpool2d,
)
from .matrices import (
    GeLU,
    layer_norm,
    linear2d,
    linear3d,
    relu2d,
    relu4d,
    residual_add,
    schedule_GeLU,
    schedule_layer_norm,
    schedule_linear2d,
    schedule_linear3d,
    schedule_relu2d,
    schedule_relu4d,
    schedule_residual_add,
    schedule_softmax,
    schedule_softmax2d,
    softmax,
    softmax2d,
)

linear = linear2d
relu = relu2d
avgpool = avgpool2d
maxpool = maxpool2d
batchnorm = batchnorm2d
attention = scaled_dot_product_attention

__all__ = [
    "GeLU",
    "attention",
    "avgpool",
    "avgpool2d",
    "batchnorm",
    "batchnorm2d",
    "conv2d",
    "ffn",
    "layer_norm",
    "linear",
    "linear2d",
    "linear3d",
    "maxpool",
    "maxpool2d",
    "multi_head_attention",
    "relu",
    "relu2d",
    "relu4d",
    "residual_add",
    "scaled_dot_product_attention",
    "schedule_GeLU",
    "schedule_avgpool2d",
    "schedule_batchnorm2d",
    "schedule_conv2d",
    "schedule_conv2d_with_reuse",
    "schedule_ffn",
    "schedule_layer_norm",
    "schedule_linear2d",
    "schedule_linear3d",
    "schedule_maxpool2d",
    "schedule_multi_head_attention",
    "schedule_relu2d",
    "schedule_relu4d",
    "schedule_residual_add",
    "schedule_scaled_dot_product_attention",
    "schedule_softmax",
    "schedule_softmax2d",
    "softmax",
    "softmax2d",
]
