"""Host program for kernels that say tokens: prompts, caches and weights on a card with XRT."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import TargetError
from ..ir.types import AlloType, Float, Int
from .graph import Array

if TYPE_CHECKING:
    from ..backend.hls.interface.ports import Port
    from ..backend.hls.project.module import ProjectModule


def write_generator(
    folder: str | Path,
    decode: ProjectModule,
    prefill: ProjectModule | None = None,
    *,
    token: str,
    position: str,
    caches: Collection[str],
    positions: int,
    weights: Mapping[str, Array] | None = None,
) -> Path:
    """A folder with the host program of a language model in C++ for XRT, its Makefile, and the weights; the folder.

    `decode` is a build of `s.build(target="vitis_hls", mode="hw", project=...)`: a kernel that takes the argument
    `token` (an array of one integer), where it stands (`position`, as well), the `caches`, which it changes in place
    and hold `positions` tokens, and the `weights`; its last argument that is only written are the scores of the next
    token. `prefill` does the same for several tokens from place 0 on, and may lack `position`; a prompt of at least
    as many goes through it, and the rest of it through `decode`. Caches and weights that have the same names in both
    are the same buffers. `make link generate` makes the binary and the program; `./generate generate.hw.xclbin 32 5`
    says 32 tokens behind the prompt 5, the most likely one each time.

    Raises TargetError for builds without a project, and for arguments that do not fit. Source: StreamTensor, section 3.
    """
    roles = {token: "token", position: "position", **dict.fromkeys(caches, "state")}
    kernels = {"DECODE": decode} | ({} if prefill is None else {"PREFILL": prefill})
    told = {name: _Told(module, roles, dict(weights or {})) for name, module in kernels.items()}
    first = told["DECODE"]
    for one in told.values():
        one.require_like(first)
    if first.port("token").count != 1:
        count = first.port("token").count
        raise TargetError(f"'{token}' of '{first.name}' holds {count} tokens, and decoding is of one")
    path = Path(folder)
    (path / "data").mkdir(parents=True, exist_ok=True)
    platforms = {module.settings.platform for module in kernels.values()}
    if len(platforms) > 1:
        raise TargetError("the kernels are for several platforms", hint="build both for one device")
    values = {
        "TOKEN": first.word("token"), "POSITION": first.word("position"), "SCORE": first.word("scores"),
        "VOCABULARY": str(first.port("scores").count), "POSITIONS": str(positions),
        "KERNELS": "\n\n".join(one.text(name) for name, one in told.items()),
        "TARGET": decode.mode or "hw", "PLATFORM": platforms.pop() or "",
        "FOLDERS": " ".join(os.path.relpath(one.folder, path.resolve()) for one in told.values()),
    }  # fmt: skip
    from ..backend.hls.text.module import template

    for name in ("generate.cpp", "kernels.h", "Makefile"):
        text = template(f"generate/{name}")
        (path / name).write_text(re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], text))
    for one in told.values():
        for port, array in one.weights.items():
            (path / "data" / f"{port}.bin").write_bytes(np.ascontiguousarray(array).tobytes())
    return path


class _Told:
    """A kernel, and the role of each of its ports."""

    def __init__(self, module: ProjectModule, roles: Mapping[str, str], weights: dict[str, Array]) -> None:
        self.name, self.kernel, self.ports = module.top_func_name, module.emitted.top, module.ports
        if module.project is None or module.mode not in module.flow.linked:
            raise TargetError(
                f"'{self.name}' has no project for a card",
                hint='s.build(target="vitis_hls", mode="hw", project="folder")',
            )
        self.folder = module.project.folder
        written = [port for port in self.ports if port.writes and port.label not in roles]
        if not written or any(port.reads for port in written):
            raise TargetError(
                f"'{self.name}' gives no scores, or changes an argument that is no cache",
                hint="name all arguments that it changes: caches=['keys', 'values']",
            )
        self.roles: dict[str, str] = {}
        self.weights: dict[str, Array] = {}
        for port in self.ports:
            role = "scores" if port is written[-1] else roles.get(port.label, "weight")
            if not port.bundle:
                raise TargetError(f"the argument '{port.label}' of '{self.name}' is no array in memory")
            if role == "weight":
                array = weights.get(port.label)
                if array is None or array.nbytes != port.size:
                    got = "none are given" if array is None else f"{array.nbytes} are given"
                    raise TargetError(
                        f"the argument '{port.label}' of '{self.name}' takes {port.size} bytes of weights, and {got}",
                        hint="weights=kernel.weights, of the kernel from which it was built",
                    )
                self.weights[port.name] = array
            self.roles[port.name] = role

    def port(self, role: str) -> Port:
        """The port of a role that one port has. Raises TargetError if none has it."""
        found = [port for port in self.ports if self.roles[port.name] == role]
        if not found:
            raise TargetError(f"'{self.name}' has no argument for its {role}", hint="name it: token='x', position='p'")
        return found[0]

    def word(self, role: str) -> str:
        """The type of C++ of the elements of a role."""
        return _word(self.port(role).element, role, self.name)

    def require_like(self, other: _Told) -> None:
        """Raises TargetError if the two kernels do not share what has the same name."""
        shared = {port.name: port for port in other.ports if other.roles[port.name] in ("state", "weight")}
        for port in self.ports:
            known = shared.get(port.name)
            if known is not None and (known.size, known.element, known.bank) != (port.size, port.element, port.bank):
                raise TargetError(
                    f"'{port.label}' has another size, type or bank in '{self.name}' than in '{other.name}'",
                    hint="build both kernels from one model, with the same banks",
                )
        if self.word("token") != other.word("token") or self.word("scores") != other.word("scores"):
            raise TargetError(f"tokens or scores of '{self.name}' have another type than those of '{other.name}'")

    def text(self, name: str) -> str:
        """Its entry in `kernels.h`."""
        lines = [f'{{"{port.name}", Role::{self.roles[port.name]}, {port.size}}},' for port in self.ports]
        listed = "\n".join(f"    {line}" for line in lines)
        macro = "#define HAS_PREFILL\n" if name == "PREFILL" else ""
        return f'{macro}static const Kernel {name} = {{"{self.kernel}", {self.port("token").count}, {{\n{listed}\n}}}};'


def _word(element: AlloType, role: str, kernel: str) -> str:
    match element:
        case Int(width=32 | 64) if role != "scores":
            return f"std::int{element.width}_t"
        case Float(width=32 | 64) if role == "scores":
            return "float" if element.width == 32 else "double"
    raise TargetError(
        f"the {role} of '{kernel}' has elements of type {element!r}", hint="tokens are int32 or int64, scores floats"
    )
