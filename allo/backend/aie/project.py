"""Folders with a program for MLIR-AIE: the module, a Makefile, a host program, the plan as text."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import TargetError
from ..external.compiler import files_of, find_compiler
from ..external.source import ExternalSource
from ..headers import templates_directory
from .kernels import kernel_headers

if TYPE_CHECKING:
    from .module import AIEModule

_MARKER = ".allo-project"


def write_project(folder: Path, module: AIEModule) -> Path:
    """Write a program to a folder, which is made if it does not exist. Raises TargetError for one that is not ours."""
    if folder.exists() and not folder.is_dir():
        raise TargetError(f"the project folder {folder} is a file", hint="name a folder that does not exist yet")
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARKER).exists():
        raise TargetError(
            f"the folder {folder} exists and is no project of allo; nothing is written to it",
            hint="name a folder that does not exist yet, or an empty one",
        )
    folder.mkdir(parents=True, exist_ok=True)
    names = [argument.name for argument in module.graph.arguments]
    order = {name: number for number, name in enumerate(names)}
    buffers = [
        [[order[argument.name], offset * argument.bits // 8] for argument, offset in buffer.arguments]
        for buffer in module.plan.buffers
    ]
    carried = {number: (own.form.value, f"int{own.kind.width}", own.shape) for number, own in module.carried.items()}
    words = {
        "CARRIED": json.dumps(carried).replace('"', '\\"'),
        "TOP": module.top_func_name, "DEVICE": module.array.part, "COUNT": str(len(names)),
        "BUFFERS": json.dumps(buffers), "USAGE": " ".join(f"{name}.npy" for name in names),
    }  # fmt: skip
    plan = "\n\n".join([str(module.graph), module.draw(), str(module.capacity), ""])
    files = {_MARKER: "", "top.mlir": module.mlir, "plan.txt": plan}
    rules = []
    for external, source in module.externals:
        files[source.name] = source.read_text()
        _copy_headers(source, folder)
        core = "aie2p" if module.array.part.startswith("npu2") else "aie2"
        rules.append(_filled("object.mk", {"NAME": external, "SOURCE": source.name, "CORE": core}))
    if module.kernels is not None:
        for place, headers in zip((folder, folder / "host"), kernel_headers(), strict=True):
            shutil.copytree(headers, place, dirs_exist_ok=True)
    words |= {"OBJECTS": " ".join(f"{name}.o" for name, _ in module.externals), "RULES": "".join(rules)}
    for name in ("Makefile", "run.py"):
        files[name] = _filled(name, words)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def _copy_headers(source: Path, folder: Path) -> None:
    """Give a project what a file includes from its own folder and those in it."""
    ours = tuple(map(str, kernel_headers()))
    found = files_of(find_compiler(), ExternalSource(source.stem, (str(source),), include_paths=ours), str(source))
    for header in map(Path, found):
        if header != source and header.is_relative_to(source.parent):
            place = folder / header.relative_to(source.parent)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(header, place)


def _filled(name: str, words: dict[str, str]) -> str:
    text = (templates_directory() / "aie" / name).read_text()
    for key, value in words.items():
        text = text.replace(f"@{key}@", value)
    return text
