"""PyTorch: an exported model as a kernel, scheduled, as an accelerator of streams between its layers.

Run it: `python docs/tutorials/pytorch.py`. It reads a file that PyTorch has written, so that PyTorch need not be here.
"""

# %% 1. A file that `torch.export.save` has written becomes a kernel: a layer is a line, with its place in the model.
#
# Where PyTorch is, `allo.from_pytorch(module, example_inputs)` takes the module itself.

from pathlib import Path

import numpy as np

import allo

MODELS = Path(allo.__file__).parents[1] / "tests" / "importers" / "models"
kernel = allo.from_pt2(MODELS / "perceptron.pt2")
print(kernel)

# %% 2. It computes what PyTorch has computed, whose result is stored beside the file.

stored = np.load(MODELS / "perceptron.npz")
x, wanted = stored["in0"], stored["out0"]
assert np.allclose(allo.customize(kernel).build()(x), wanted, atol=1e-6)

# %% 3. Layer by layer: each is compared with what NumPy computes of the model.

print(allo.importers.compare_layers(kernel, x))

# %% 4. With `lower_linalg=True` layers are loops, which have their names. The report says what takes the time.

s = allo.customize(kernel, lower_linalg=True)
layers = s.report("u280")
print(f"{layers.cycles} cycles, estimated")
print(*[f"{advice.gain}: {advice.step}" for advice in layers.advice[:3]], sep="\n")

# %% 5. Sums start an iteration as soon as the addition allows it.

for layer in ("linear", "linear_1", "linear_2"):
    s.pipeline(f"{layer}.k")
piped = s.report("u280")
print(f"{piped.cycles} cycles, estimated")
assert piped.cycles < layers.cycles
s.draw_loops()

# %% 6. All layers at once: arrays between them become streams, where orders differ with a converter.

print(s.fuse_streams("perceptron"))
streams = s.report("u280")
assert streams.cycles < piped.cycles

# %% 7. A run counts the cycles in which each layer works and waits. Others wait for the second one, the slowest.

run = s.build(target="simulator", timed="u280")
assert np.allclose(run(x), wanted, atol=1e-6)
print(f"{run.timing.cycles} cycles, simulated; {layers.cycles / run.timing.cycles:.1f} times as fast as at first")
s.draw(run.timing)

# %% 8. `s.build(target="rtl")` makes SystemVerilog of the same schedule, and `"vhls"` C++ for tools of others.

code = s.build(target="vhls").hls_code
assert code.count("#pragma HLS dataflow") == 1
print(*[line for line in code.splitlines() if "hls::stream" in line][:4], sep="\n")
