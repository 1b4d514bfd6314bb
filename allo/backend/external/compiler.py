"""Compiler of C++: which one, how it is called, and where its results are kept.

Libraries are kept in `$XDG_CACHE_HOME/allo/external` (`~/.cache/allo/external` if it is not set), those of simulations
of HLS code in `allo/csim` beside it. The name of a library is a hash of all that goes into it: the sources after
preprocessing, so with all their headers, the wrapper, the flags and the version of the compiler. Processes that want
one library wait for each other at a lock; the file appears by one rename, so nobody sees half of it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...errors import ToolError
from ...messages import working
from .source import ExternalSource, vendor_folders

_LIBRARIES = "external"  # the folder of the cache
_COMPILERS = ("g++", "clang++", "c++")
_FLAGS = (
    "-std=c++17",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
)  # hidden: two libraries may have functions of one name
_MISSING_HEADER = re.compile(
    r"fatal error: '?((?:ap|hls)_[\w/]+(?:\.h|\.hpp)?|etc/ap\w+\.h)'?(?::| file not found)"
)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler: the words that begin its command, and what it says of its version."""

    command: tuple[str, ...]
    version: str

    def run(self, arguments: Sequence[str], what: str) -> str:
        """What the compiler prints; ToolError with its messages if it fails."""
        command = [*self.command, *arguments]
        done = _started(command)
        if done.returncode == 0:
            return done.stdout
        missing = _MISSING_HEADER.search(done.stderr)
        hint = None
        if missing:
            hint = (
                f"'{missing[1]}' is a header of an HLS tool, and none is installed here: pass its folder in "
                "include_paths=[...], or set XILINX_HLS"
            )
        raise ToolError(
            f"{what} does not compile:\n{done.stderr.rstrip()}\n  command: {shlex.join(command)}", hint=hint
        )


def find_compiler() -> Compiler:
    """The compiler that `CXX` names, else the first that is installed; ToolError if there is none."""
    named = shlex.split(os.environ.get("CXX", ""))
    candidates = [tuple(named)] if named else [(name,) for name in _COMPILERS]
    for command in candidates:
        path = shutil.which(command[0])
        if path is not None:
            found = (path, *command[1:])
            return Compiler(found, _version(found))
    looked = f"'{named[0]}', which CXX names" if named else "g++, clang++ or c++"
    raise ToolError(
        f"external kernels need a C++ compiler, and there is none: looked for {looked}",
        hint="install g++, or set CXX to the command of a compiler",
    )


def compiler_name() -> str:
    """Which compiler there is, with its version; ToolError if there is none."""
    found = find_compiler()
    return f"{found.version.splitlines()[0]} ({found.command[0]})"


@cache
def _version(command: tuple[str, ...]) -> str:
    return _started([*command, "--version"]).stdout


def _started(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise ToolError(f"the C++ compiler does not start: {shlex.join(command)}: {error.strerror}") from None


def _include_flags(source: ExternalSource) -> list[str]:
    own = [f"-I{folder}" for folder in source.search_paths]
    return [*own, *(word for folder in vendor_folders() for word in ("-isystem", folder))]


def preprocessed(compiler: Compiler, source: ExternalSource, file: str) -> str:
    """The text of `file` with its headers and without macros."""
    arguments = ["-E", *_FLAGS, *_include_flags(source), file]
    return compiler.run(arguments, f"the external kernel '{source.top}'")


def files_of(compiler: Compiler, source: ExternalSource, file: str) -> tuple[str, ...]:
    """`file` and the headers that it includes, without those of the system and of HLS types."""
    rule = compiler.run(
        ["-MM", *_FLAGS, *_include_flags(source), file], f"the external kernel '{source.top}'"
    )
    listed = rule.replace("\\\n", " ").partition(": ")[2]
    names = re.findall(r"(?:\\.|\S)+", listed)
    paths = [Path(re.sub(r"\\(.)", r"\1", name).replace("$$", "$")) for name in names]
    return tuple(dict.fromkeys(str(path.resolve()) for path in paths))


def cache_folder(name: str = _LIBRARIES) -> Path:
    """Where libraries, or other things, are kept."""
    base = os.environ.get("XDG_CACHE_HOME")
    root = Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache"
    return root / "allo" / name


def content_key(compiler: Compiler, texts: Sequence[str]) -> str:
    """The name of what `compiler` makes of `texts`.

    Machine code finds a library by the name of its function, so libraries of two caches have different names.
    """
    parts = (compiler.version, *compiler.command, *_FLAGS, str(cache_folder()), *texts)
    return hashlib.sha256("\0".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()[:32]


def library_of(
    compiler: Compiler, source: ExternalSource, key: str, wrapper: str, others: Sequence[str]
) -> Path:
    """The shared library of a wrapper and the other files of a kernel: the one in the cache, or a new one."""

    def make(place: Path) -> None:
        text = place.parent / "wrapper.cpp"
        text.write_text(wrapper)
        flags = [*_FLAGS, "-shared", *_include_flags(source), str(text), *others, "-o", str(place)]
        with working(f"compiling the external kernel '{source.top}'"):
            compiler.run(flags, f"the external kernel '{source.top}'")

    return kept(_LIBRARIES, f"{key}.so", make)


def kept(folder_name: str, name: str, make: Callable[[Path], None]) -> Path:
    """The file `name` in a folder of the cache; if it is missing, what `make` writes to a path."""
    folder = cache_folder(folder_name)
    found = folder / name
    if found.exists():
        return found
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / f"{found.stem}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not found.exists():
                with tempfile.TemporaryDirectory(dir=folder) as own:
                    make(Path(own) / name)
                    os.replace(Path(own) / name, found)
    except OSError as error:
        raise ToolError(
            f"what is compiled once is kept in {folder}, where nothing can be written: {error.strerror}",
            hint="set XDG_CACHE_HOME to a folder of yours",
        ) from None
    return found


def compiled_header(
    compiler: Compiler, folder_name: str, text: str, flags: Sequence[str], made_of: Sequence[str], what: str, *,
    at_first: bool = True,
) -> list[str]:  # fmt: skip
    """Flags by which `compiler` begins with a header of this text, which it has compiled with these flags: that of the
    cache, or a new one, if it is not there. `made_of` are texts that decide what is included. Without `at_first`, it is
    compiled the second time that it is asked for, and the first time there are no flags. Raises ToolError with what the
    compiler says of `what`.
    """
    key = content_key(compiler, ["header", *flags, text, *made_of])
    is_new = not (cache_folder(folder_name) / f"{key}.h").exists()

    def write(place: Path) -> None:
        place.write_text(text)

    header = kept(folder_name, f"{key}.h", write)
    if is_new and not at_first:
        return []

    def make(place: Path) -> None:
        compiler.run([*flags, "-x", "c++-header", str(header), "-o", str(place)], what)

    kept(folder_name, f"{key}.h.gch", make)
    return ["-include", str(header)]
