"""What each extra of the package is for, tried once: `python try_extra.py rtl`, in an environment that has it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import allo
from allo.ir.types import float32, int32


def squares(x: int32[16], y: int32[16]):
    for i in range(16):
        y[i] = x[i] * x[i]


def layers(x: float32[16], y: float32[16]):
    a: float32[16] = 0
    b: float32[16] = 0
    for i in range(16):
        a[i] = x[i] + 1
    for j in range(16):
        b[j] = a[j] * 2
    for k in range(16):
        y[k] = b[k] - x[k]


def rtl() -> str:
    s = allo.customize(squares)
    s.pipeline("i")
    built = s.build(target="rtl")
    x, y = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    built(x, y)
    assert (y == x * x).all() and built.cycles == built.predicted_cycles
    return f"{built.cycles} cycles in Verilator"


def synth() -> str:
    found = allo.customize(squares).build(target="rtl").synthesise()
    assert found.ff > 0
    return f"{found.lut} LUTs and {found.ff} registers by Yosys"


def torch() -> str:
    torch = importlib.import_module("torch")
    model, x = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU()).eval(), torch.randn(2, 8)
    found = allo.customize(allo.from_pytorch(model, (x,))).build()(x.numpy())
    assert np.allclose(found, model(x).detach().numpy(), atol=1e-5)
    return "a model of PyTorch"


def onnx() -> str:
    onnx = importlib.import_module("onnx")
    of, shape = onnx.TensorProto.FLOAT, [2, 8]
    x, y = (onnx.helper.make_tensor_value_info(name, of, shape) for name in "xy")
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
    opset = onnx.helper.make_opsetid("", 20)
    kernel = allo.from_onnx(onnx.helper.make_model(graph, opset_imports=[opset]).SerializeToString())
    values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    assert (allo.customize(kernel).build()(values) == np.maximum(values, 0)).all()
    return "a model of ONNX"


def exact() -> str:
    from allo.mapping import fusion_gap

    return str(fusion_gap(allo.customize(layers).fuse_streams("layers", budget=0)))


def search() -> str:
    found = allo.search(squares, driver="optuna", budget=4, workers=0)
    assert found.best is not None
    with TemporaryDirectory() as folder:
        (Path(folder) / "front.svg").write_text(found.draw()._repr_svg_())
    return f"{len(found.points)} points by Optuna"


def dask() -> str:
    distributed = importlib.import_module("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = allo.search(squares, executor=client, budget=4)
    assert found.points == allo.search(squares, workers=0, budget=4).points
    return f"{len(found.points)} points on two workers"


def ray() -> str:
    from allo.search import RayExecutor

    ray = importlib.import_module("ray")
    ray.init(num_cpus=2, include_dashboard=False)
    found = allo.search(squares, executor=RayExecutor(), budget=4)
    assert found.points == allo.search(squares, workers=0, budget=4).points
    return f"{len(found.points)} points on two workers"


def docs() -> str:
    with TemporaryDirectory() as folder:
        (Path(folder) / "docs").mkdir()
        (Path(folder) / "docs" / "index.md").write_text("# Search\n\n::: allo.search\n")
        site = "site_name: Search\ntheme: {name: material}\nplugins: [mkdocstrings]\n"
        (Path(folder) / "mkdocs.yml").write_text(site)
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"], cwd=folder, check=True)
        assert "budget" in (Path(folder) / "site" / "index.html").read_text()
    return "a page of mkdocs"


def polybench() -> str:
    with TemporaryDirectory() as folder:
        options = f"--kernel gemm --size MINI --design vanilla best --check cpu estimate --jobs 1 --output {folder}"
        command = [sys.executable, "-m", "polybench", "run", *options.split()]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        assert any("<svg" in page.read_text() for page in Path(folder).glob("*.html"))
    return "plots"


EXTRAS: dict[str, Callable[[], str]] = {
    "rtl": rtl, "synth": synth, "torch": torch, "onnx": onnx, "exact": exact, "search": search, "dask": dask,
    "ray": ray, "docs": docs, "polybench": polybench,
}  # fmt: skip


def main() -> None:
    name = sys.argv[1]
    for extra in EXTRAS if name == "all" else [name]:
        print(f"{name}: {extra}: {EXTRAS[extra]()}", flush=True)


if __name__ == "__main__":
    main()
