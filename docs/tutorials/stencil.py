"""A stencil: line buffer, window, wide words and memories, so that every pixel is read once.

Run it: `python docs/tutorials/stencil.py`. Each part says what happens and checks it.
"""

# %% 1. A convolution reads each pixel nine times.

import numpy as np

import allo
from allo.ir.types import int8, int32
from allo.memory import Memory

H, W = 32, 48


def sharpen(image: int8[H + 2, W + 2], weights: int32[3, 3], result: int32[H, W]):
    for y, x in allo.grid(H, W, name="pixels"):
        total: int32 = 0
        for r, c in allo.reduction(3, 3):
            total += image[y + r, x + c] * weights[r, c]
        result[y, x] = total


generator = np.random.default_rng(0)
image = generator.integers(-128, 128, (H + 2, W + 2), dtype=np.int8)
weights = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], np.int32)
wanted = np.zeros((H, W), np.int32)
allo.customize(sharpen).build()(image, weights, wanted)

# %% 2. `reuse_at` on the outer loop makes a line buffer: three rows, of which each iteration of y loads one.
#
# The loop starts two iterations earlier, at y = -2, until the buffer is full; only then its old body runs.

s = allo.customize(sharpen)
lines = s.reuse_at(s.image, axis="y")
print(s.get_loops())
assert str(lines) == "sharpen:image_reuse"

# %% 3. On the inner loop, `reuse_at` of the line buffer makes a window of 3 x 3 pixels.
#
# The line buffer is now filled in loop x too. So one pass over the image does it all: there is one load from it.

window = s.reuse_at(lines, axis="x")
print(s.module)
assert str(window) == "sharpen:image_reuse_1"
assert str(s.module).count("affine.load %arg0") == 1
s.draw_loops()

# %% 4. What saves nothing is a warning, and with strict=True refused: the weights do not move with x.

try:
    s.reuse_at(s.weights, axis="x", strict=True)
except allo.ScheduleError as error:
    print(error)
    assert "does not move" in str(error)

# %% 5. The hardware: a pixel a cycle, rows and window in registers or memories of their own.

s.partition(lines, dim=1)
s.partition(window)
s.bind(lines, Memory(resource="BRAM", storage_type="RAM_S2P"))
s.pipeline("x")

# %% 6. `pack` makes words of two pixels of the image, for a wide memory port; so callers give words too.

s.pack(s.image, dim=2, factor=2)
words = image.view(np.uint16)
result = np.zeros((H, W), np.int32)
s.build()(words, weights, result)
assert np.array_equal(result, wanted)

# %% 7. `reshape` changes how an array is indexed, here to a flat one; its elements stay in place.

s.reshape(s.result, (H * W,))
flat = np.zeros(H * W, np.int32)
s.build()(words, weights, flat)
assert np.array_equal(flat.reshape(H, W), wanted)

for step in s.steps:
    print(step)
