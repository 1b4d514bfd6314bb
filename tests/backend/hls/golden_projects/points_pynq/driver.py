"""Runs points_top on a board with PYNQ: `python driver.py` on the files in data/, `Kernel()(...)` on arrays."""

import json
import time
from pathlib import Path

import numpy as np
from pynq import Overlay, allocate

HERE = Path(__file__).resolve().parent
CONTROL, START, DONE = 0x00, 1, 2


class Kernel:
    """The kernel on the board; called with the memory of its arguments in order, results are returned."""

    def __init__(self, bitstream=HERE / "points_top.bit"):
        self.arguments = json.loads((HERE / "registers.json").read_text())["arguments"]
        self.ip = Overlay(str(bitstream)).allo_kernel
        self.buffers = {
            a["name"]: allocate(shape=(a["bytes"],), dtype=np.uint8) for a in self.arguments if a["kind"] == "memory"
        }

    def __call__(self, *given, timeout=60.0):
        """`given`: an array for each argument that the kernel reads; those that it writes are returned as bytes."""
        inputs = [a for a in self.arguments if a["read"]]
        if len(given) != len(inputs):
            names = ", ".join(a["name"] for a in inputs)
            raise TypeError(f"points_top reads {len(inputs)} arguments ({names}), got {len(given)}")
        for position, argument in enumerate(inputs):
            data = np.ascontiguousarray(given[position]).tobytes()
            if len(data) != argument["bytes"]:
                raise ValueError(f"argument '{argument['name']}' must have {argument['bytes']} bytes, got {len(data)}")
            if argument["kind"] == "number":
                self._set(argument, int.from_bytes(data, "little"))
            else:
                self.buffers[argument["name"]][:] = np.frombuffer(data, np.uint8)
                self.buffers[argument["name"]].flush()
        for argument in self.arguments:
            if argument["kind"] == "memory":
                self._set(argument, self.buffers[argument["name"]].device_address)
        self._run(timeout)
        results = []
        for argument in self.arguments:
            if argument["written"]:
                self.buffers[argument["name"]].invalidate()
                results.append(self.buffers[argument["name"]].tobytes())
        return results

    def _set(self, argument, value):
        for word in range(argument["registers"]):
            self.ip.write(argument["offset"] + 4 * word, (value >> (32 * word)) & 0xFFFFFFFF)

    def _run(self, timeout):
        self.ip.write(CONTROL, START)
        end = time.monotonic() + timeout
        while not self.ip.read(CONTROL) & DONE:
            if time.monotonic() > end:
                raise TimeoutError(f"points_top did not end within {timeout} s")


if __name__ == "__main__":
    kernel = Kernel()
    read = [a for a in kernel.arguments if a["read"]]
    results = kernel(*(np.fromfile(HERE / "data" / f"{a['name']}.bin", np.uint8) for a in read))
    written = [a for a in kernel.arguments if a["written"]]
    for position, argument in enumerate(written):
        (HERE / "data" / f"{argument['name']}.out.bin").write_bytes(results[position])
