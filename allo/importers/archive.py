"""Archives of exported models (`.pt2`): JSON and raw tensors in a ZIP file, read without PyTorch.

Source: PyTorch 2, *PT2 Archive Spec*, and the schema of `torch.export`, major version 8.
"""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from ..errors import AlloError
from ..ir.types import AlloType, Bool, Float, Int, UInt
from .graph import Array

SCHEMA_MAJOR = 8
# The numbers that the schema has for element types.
ELEMENT_TYPES: dict[int, AlloType] = {
    1: UInt(8), 2: Int(8), 3: Int(16), 4: Int(32), 5: Int(64), 6: Float(16), 7: Float(32), 8: Float(64), 12: Bool(),
    13: Float(16, brain=True), 28: UInt(16),
}  # fmt: skip
_DTYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.uint8), 2: np.dtype(np.int8), 3: np.dtype(np.int16), 4: np.dtype(np.int32), 5: np.dtype(np.int64),
    6: np.dtype(np.float16), 7: np.dtype(np.float32), 8: np.dtype(np.float64), 12: np.dtype(np.bool_),
    13: np.dtype(ml_dtypes.bfloat16), 28: np.dtype(np.uint16),
}  # fmt: skip
# What `zipfile` raises for files that are damaged, encrypted or packed in a way that it does not know.
_DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)
_MOST = 1 << 28  # elements of a tensor whose file is shorter, since it repeats some
_HINT = "export it with torch.export.save(program, path) of PyTorch 2.9 or later"


class Pt2Archive:
    """The files of one archive. Raises AlloError for what is none, or one of another version."""

    def __init__(self, source: str | Path | bytes) -> None:
        self.name = "model" if isinstance(source, bytes) else Path(source).name
        try:
            self._zip = zipfile.ZipFile(BytesIO(source) if isinstance(source, bytes) else source)
        except _DAMAGED:
            raise AlloError(f"'{self.name}' is no exported model: it is no ZIP file", hint=_HINT) from None
        files = self._zip.namelist()
        models = [name for name in files if name.endswith(".json") and "/models/" in f"/{name}"]
        if len(models) != 1:
            raise AlloError(f"'{self.name}' has {len(models)} models, and one is read", hint=_HINT)
        self._root = models[0].rpartition("models/")[0]
        self.program = self._json(models[0])
        told = self.program.get("schema_version")
        version = told.get("major") if isinstance(told, dict) else None
        if version != SCHEMA_MAJOR:
            text = f"'{self.name}' has the schema version {version}, and version {SCHEMA_MAJOR} is read"
            raise AlloError(text, hint=_HINT)
        if self._read("byteorder", b"little").strip() != b"little":
            raise AlloError(f"the tensors of '{self.name}' are not little-endian", hint="export it on another machine")

    def _read(self, name: str, default: bytes | None = None) -> bytes:
        try:
            return self._zip.read(self._root + name)
        except KeyError:
            if default is not None:
                return default
            raise AlloError(f"'{self.name}' has no file '{name}'", hint=_HINT) from None
        except (*_DAMAGED, OSError, EOFError) as error:
            raise AlloError(f"the file '{name}' of '{self.name}' cannot be read: {error}") from None

    def _json(self, path: str) -> dict[str, Any]:
        try:
            value = json.loads(self._read(path.removeprefix(self._root)))
        except ValueError as error:
            raise AlloError(f"the file '{path}' of '{self.name}' is not JSON: {error}") from None
        if not isinstance(value, dict):
            raise AlloError(f"the file '{path}' of '{self.name}' holds no description of a model")
        return value

    def weights(self) -> Mapping[str, Array]:
        """The parameters and buffers by the names that the model has for them."""
        return self._tensors("weights")

    def constants(self) -> Mapping[str, Array]:
        """Tensors that are neither."""
        return self._tensors("constants")

    def _tensors(self, kind: str) -> dict[str, Array]:
        table = f"{self._root}data/{kind}/model_{kind}_config.json"
        if table not in self._zip.namelist():
            return {}
        try:
            return {name: self._tensor(kind, name, told) for name, told in self._json(table)["config"].items()}
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
            text = f"the table '{table}' is not as its schema says: {type(error).__name__} {error}"
            raise AlloError(text, hint="export the model again") from error

    def _tensor(self, kind: str, name: str, told: Mapping[str, Any]) -> Array:
        if told.get("use_pickle"):
            raise AlloError(f"the tensor '{name}' of '{self.name}' is pickled, which is never read", hint=_HINT)
        meta = told["tensor_meta"]
        dtype = _DTYPES.get(meta["dtype"])
        if dtype is None:
            raise AlloError(f"the tensor '{name}' of '{self.name}' has an element type that kernels do not have")
        raw = self._read(f"data/{kind}/{told['path_name']}")
        stored = np.frombuffer(raw, dtype, len(raw) // dtype.itemsize)
        shape, strides = ([extent["as_int"] for extent in meta[part]] for part in ("sizes", "strides"))
        start = meta["storage_offset"]["as_int"]
        last = start + sum((extent - 1) * step for extent, step in zip(shape, strides, strict=True))
        outside = min(shape, default=1) < 1 or start < 0 or min(strides, default=0) < 0 or last >= len(stored)
        if outside or math.prod(shape) > max(len(stored), _MOST):
            raise AlloError(f"the tensor '{name}' of '{self.name}' lies outside of its file")
        steps = [step * dtype.itemsize for step in strides]
        return np.ascontiguousarray(np.lib.stride_tricks.as_strided(stored[start:], shape, steps)).reshape(shape)
