"""Modules from text whose names, attributes and locations try to become code: none of it does, in no emitted file."""

from __future__ import annotations

import re
import string
import subprocess
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import allo
from allo.backend.hls.text.escape import comment, file_word, uncommented
from allo.errors import KernelError, TargetError

# each would run, or not compile, if a tool took it for more than a name
HOSTILE = (
    "k.py\nvoid evil() { abort(); } //", "k.py\r\nevil();", "k.py */ evil(); /*", "k.py\\", "k.py??/", "k\x00evil",
    "k\x0b\x0cevil();", 'k"); evil(); ("', "k'''\nevil()\n'''", "k`evil`", "k$(shell evil)", "k[exec evil]} {evil",
    "k\u2028evil();\u202e", "#define int evil\n", "k\u00e9.py", "t = evil; t_1 = 0", "ap_fixed<evil>", ") {evil",
    "__attribute__((constructor)) evil", "", "//", "// directive set evil:rsc -INTERLEAVE 2", "@TOP@",
)  # fmt: skip
TARGETS = ("vhls", "vitis_hls", "vivado_hls", "ihls", "catapult", "tapa", "pynq")
# %..% are places for names; `inner` reads a struct, the tasks of `top` are joined by a stream
TEXT = """\
module attributes {allo.top = "%ENTRY%"} {
  memref.global "private" constant @"%constant%" : memref<4xi32> = dense<[1, 2, 3, 4]>
  func.func @"%inner%"(%p: memref<4xi32> {allo.name = "%p%"}, %n: i32 {allo.name = "%n%"}, %q: memref<4xi32>
      {allo.name = "%q%"}) {
    %w = memref.get_global @"%constant%" : memref<4xi32> {allo.name = "%w%"}
    %t = memref.alloc() {allo.name = "%t%"} : memref<4xi32> loc("%l1%":3:1)
    affine.for %i = 0 to 4 {
      %x = affine.load %p[%i] : memref<4xi32>
      %y = affine.load %w[%i] : memref<4xi32>
      %s = arith.addi %x, %y : i32
      %m = arith.muli %s, %n : i32
      affine.store %m, %t[%i] : memref<4xi32> loc("%l2%":4:1)
    } {allo.name = "%i%", allo.nest = "%nest%"} loc("%l3%":5:1)
    affine.for %i = 0 to 4 {
      %x = affine.load %t[%i] : memref<4xi32>
      affine.store %x, %q[%i] : memref<4xi32> loc("%l2%":14:1)
    } {allo.name = "%k%", allo.nest = "%nest2%"} loc("%l3%":15:1)
    return
  } loc("%l4%":6:1)
  func.func @"%first%"(%a: memref<4xi32> {allo.name = "%a%"}, %f: !allo.stream<i32, 4> {allo.name = "%f%"}) {
    %n = arith.constant 3 : i32
    %b = memref.alloc() {allo.name = "%b%"} : memref<4xi32> loc("%l5%":7:1)
    func.call @"%inner%"(%a, %n, %b) : (memref<4xi32>, i32, memref<4xi32>) -> () loc("%l6%":8:1)
    affine.for %i = 0 to 4 {
      %x = affine.load %b[%i] : memref<4xi32>
      allo.stream_put %f, %x : !allo.stream<i32, 4> loc("%l7%":9:1)
    } {allo.name = "%j%", allo.nest = "%other%", allo.pipeline = 1 : i32}
    return
  } loc("%l8%":10:1)
  func.func @"%last%"(%f: !allo.stream<i32, 4> {allo.name = "%g%"}, %r: memref<4xi32> {allo.name = "%r%"}) {
    affine.for %i = 0 to 4 {
      %x = allo.stream_get %f : !allo.stream<i32, 4> loc("%l9%":11:1)
      affine.store %x, %r[%i] : memref<4xi32>
    } {allo.name = "%o%", allo.nest = "%third%", allo.unroll = 2 : i32}
    return
  }
  func.func @"%top%"(%a: memref<4xi32> {allo.name = "%c%"}, %r: memref<4xi32> {allo.name = "%d%"})
      attributes {allo.dataflow} {
    %f = allo.stream_create {allo.name = "%stream%"} : !allo.stream<i32, 4> loc("%l10%":12:1)
    func.call @"%first%"(%a, %f) : (memref<4xi32>, !allo.stream<i32, 4>) -> () loc("%l11%":13:1)
    func.call @"%last%"(%f, %r) : (!allo.stream<i32, 4>, memref<4xi32>) -> () loc("%l12%":14:1)
    return
  } loc("%l13%":16:1)
}
"""
PLACES = tuple(name for name in dict.fromkeys(re.findall(r"%(\w+)%", TEXT)) if name != "ENTRY")
SYMBOLS = ("top", "constant", "inner", "first", "last")


def hostile_module(first: int, target: str = "") -> str:
    """The text with hostile strings from number `first` on; symbols are made different by their place."""
    entry = "inner" if target == "ihls" else "top"  # whose components have no streams inside
    text, given = TEXT.replace("%ENTRY%", f"%{entry}%"), cycle(HOSTILE)
    for _ in range(first):
        next(given)
    for place in PLACES:
        name = next(given) + (place if place in SYMBOLS else "")
        text = text.replace(f"%{place}%", "".join(map(escaped, name)))
    return text


def escaped(letter: str) -> str:
    plain = letter in string.printable[:95] and letter not in '"\\'
    return letter if plain else "".join(f"\\{byte:02X}" for byte in letter.encode())


def code_of(text: str) -> str:
    """What a compiler sees of C++: after trigraphs and joined lines, without comments and strings."""
    text = text.replace("??/", "\\").replace("\\\n", "")
    pattern = r'//[^\n\r]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"'
    return re.sub(pattern, " ", text, flags=re.DOTALL)


@pytest.mark.parametrize("first", range(len(HOSTILE)))
def test_emitted_code_has_no_hostile_word(first: int) -> None:
    for target in TARGETS:
        s = allo.Schedule.from_mlir(hostile_module(first, target))
        code = s.build(target=target).hls_code
        assert set(code) <= set(string.printable[:95] + "\n")
        assert not re.search(r"\bevil\b|\babort\b", code_of(code)), target
        assert not re.search(r"\\\n|\?\?/", code), target


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, len(HOSTILE)))])
def test_hostile_modules_run_as_they_are_meant(first: int) -> None:
    A = np.arange(4, dtype=np.int32)
    s = allo.Schedule.from_mlir(hostile_module(first))
    for built in (s.build(), s.build(target="vitis_hls", mode="csim")):
        R = np.zeros(4, np.int32)
        built(A, R)
        assert R.tolist() == [3, 9, 15, 21]


@pytest.mark.parametrize(("target", "mode"), [("vitis_hls", "hw_emu"), ("vivado_hls", "csyn"), ("pynq", "hw"),
                                              ("ihls", "csyn"), ("catapult", "csyn"), ("tapa", "hw_emu")])  # fmt: skip
def test_files_of_projects_have_no_hostile_word(target: str, mode: str, tmp_path: Path) -> None:
    for first in (0, 7, 15):
        s = allo.Schedule.from_mlir(hostile_module(first, target))
        folder = tmp_path / str(first)
        s.build(target=target, mode=mode, project=str(folder))
        for path in folder.rglob("*"):
            if path.suffix in (".cpp", ".h"):
                found = code_of(path.read_text())
            elif path.is_file() and path.suffix != ".bin":
                found = path.read_text()
            else:
                continue
            assert not re.search(r"\bevil\b", found), path.name


def test_what_a_compiler_makes_of_comments(tmp_path: Path) -> None:
    """All hostile texts as comments, in the standards that join lines and have trigraphs, and in those that do not."""
    lines = [f"int v{n} = {n}; // {comment(text)}" for n, text in enumerate(HOSTILE)]
    lines += [f"int w{n} = {n}; /* {comment(text)} */" for n, text in enumerate(HOSTILE)]
    file = tmp_path / "comments.cpp"
    file.write_text("\n".join([*lines, ""]))
    for standard in ("c++98", "gnu++17"):
        command = ["g++", f"-std={standard}", "-E", "-P", str(file)]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
        assert [line.strip() for line in found if line] == [line.partition(" /")[0] for line in lines]


@pytest.mark.parametrize("text", ["kernel.py", "<ipython-input-1-ab>", "kernel (1).py", "a/b", "what?", "a*b/c", "~"])
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert comment(text) == text and uncommented(f"x;  // {text}") == "x;  "


def test_text_of_comments() -> None:
    assert comment("é\n\\*/??/\u202e") == "<U+00E9><U+000A><U+005C>*<U+002F><U+003F>?/<U+202E>"


BOUND = """module {
  func.func @f(%a: memref<4xi32> {allo.name = "A", allo.memory = {resource = "MEMORY"ENTRIES}}) {
    %c = arith.constant 1 : i32
    affine.store %c, %a[0] : memref<4xi32>
    return
  }
}"""


@pytest.mark.parametrize(
    ("memory", "entries", "message"),
    [
        ("BRAM\\0Avoid evil();", "", "resource must be one of AUTO, BRAM, BRAM_ECC, LUTRAM, SRL, URAM, URAM_ECC, got "
         "'BRAM\\nvoid evil();'"),
        ("BRAM", ', storage_type = "RAM_2P\\0Aevil"', "storage_type must be one of FIFO, RAM_1P, RAM_1WNR, RAM_2P, "
         "RAM_S2P, RAM_T2P, ROM_1P, ROM_2P, ROM_NP, got 'RAM_2P\\nevil'"),
        ("BRAM", ", latency = 9 : i32", "the latency of BRAM is at most 3, got 9"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", ["vhls", "vivado_hls", "ihls", "tapa"])
def test_memories_that_there_are_not(memory: str, entries: str, message: str, target: str) -> None:
    s = allo.Schedule.from_mlir(BOUND.replace("MEMORY", memory).replace("ENTRIES", entries))
    with pytest.raises(TargetError) as caught:
        s.build(target=target)
    assert str(caught.value) == f"the module binds an array to a memory that there is not: {message}"


@pytest.mark.parametrize("place", ["loc", "name", "symbol"])
def test_strings_that_are_no_text(place: str) -> None:
    words = SimpleNamespace(loc="k.py", name="A", symbol="f")
    setattr(words, place, "\\FF")
    text = (
        f'func.func @"{words.symbol}"(%a: memref<4xi32> {{allo.name = "{words.name}"}}) {{ return }} '
        f'loc("{words.loc}":1:1)'
    )
    with pytest.raises(KernelError) as caught:
        allo.Schedule.from_mlir(text)
    assert str(caught.value) == 'the module has a string that is not UTF-8: "\\FF"'


def test_escapes_that_are_text() -> None:
    text = 'func.func @f(%a: memref<4xi32> {allo.name = "\\C3\\A9 \\\\FF"}) { return }'
    assert "é \\FF" in allo.Schedule.from_mlir(text).buffers


@pytest.mark.parametrize("name", ["a b.cpp", "a$(evil).cpp", "a;evil.cpp", "a\n.cpp", "-o.cpp", "a#.cpp", "a'.cpp"])
def test_names_of_files_in_projects(name: str) -> None:
    with pytest.raises(TargetError) as caught:
        file_word(f"external/source/{name}")
    assert str(caught.value) == (
        f"the file {f'external/source/{name}'!r} of an external kernel cannot be part of a project: Makefiles and "
        "scripts read its name as something else\n"
        "  hint: rename it, or its folder: letters, digits and . _ + - are fine"
    )
