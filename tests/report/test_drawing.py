"""s.draw() and s.graph: what is drawn, where, and in which format."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

import allo
from allo import ScheduleError
from allo.ir.types import float32

SVG = "{http://www.w3.org/2000/svg}"


def double(A: float32[8], B: float32[8]):
    for i in range(8):
        B[i] = A[i] * 2.0


def increment(B: float32[8], C: float32[8]):
    for i in range(8):
        C[i] = B[i] + 1.0


def chain(A: float32[8], C: float32[8]):
    B: float32[8]
    double(A, B)  # noqa: F821
    increment(B, C)  # noqa: F821
    for i in range(8):
        C[i] += A[i]


def boxes() -> dict[str, tuple[int, int, int, int]]:
    """Left, top, right, lower end of each vertex by its name."""
    root = ElementTree.fromstring(allo.customize(chain).draw().svg)
    found = {}
    for group in root.iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        x, y, width, height = (int(rect.get(name)) for name in ("x", "y", "width", "height"))
        found[group.find(f"{SVG}title").text] = (x, y, x + width, y + height)
    return found


def test_every_array_and_part_is_drawn_once():
    names = {name.split("@")[0] for name in boxes()}
    assert names == {
        *("double:A", "double:B", "double:S_i_0()", "increment:B", "increment:C", "increment:S_i_0()"),
        *("chain:A", "chain:B", "chain:C", "chain:double", "chain:increment", "chain:S_i_0()"),
    }


def test_nothing_overlaps():
    places = list(boxes().values())
    for number, (left, top, right, bottom) in enumerate(places):
        for other in places[number + 1 :]:
            assert right < other[0] or other[2] < left or bottom < other[1] or other[3] < top


def test_data_flows_to_the_right():
    places = {name.split("@")[0]: place for name, place in boxes().items()}
    assert places["chain:A"][2] < places["chain:double"][0] < places["chain:B"][0] < places["chain:increment"][0]


def test_dot_has_flows_and_identities():
    dot = allo.customize(chain).draw().dot
    assert '  "double:S_i_0()" -> "double:B";' in dot
    assert '  "chain:B" -> "double:B" [style=dashed, arrowhead=none];' in dot
    assert dot.count("subgraph") == 3 and dot.count("{") == dot.count("}")


def test_a_drawing_is_the_same_each_time_and_shown_by_notebooks():
    first, second = (allo.customize(chain).draw() for _ in range(2))
    assert first == second and first._repr_svg_() == str(first) == first.svg


def test_save(tmp_path: Path):
    drawing = allo.customize(chain).draw()
    drawing.save(tmp_path / "graph.svg")
    drawing.save(str(tmp_path / "graph.dot"))
    assert (tmp_path / "graph.svg").read_text() == drawing.svg
    assert (tmp_path / "graph.dot").read_text() == drawing.dot
    with pytest.raises(ValueError, match=r"^cannot draw to 'graph.png': the name must end in .dot, .gv, .svg$"):
        drawing.save("graph.png")


def test_equivalent_variables():
    s = allo.customize(chain)
    assert s.get_equivalent_variables("B") == ("chain:B", "double:B", "increment:B")
    assert s.get_equivalent_variables("increment:C") == ("increment:C", "chain:C")
    with pytest.raises(ScheduleError, match=r"^the dataflow graph has no node 'chain:X'"):
        s.get_equivalent_variables("X")


def test_users_producers_consumers():
    graph = allo.customize(chain).graph
    assert [use.part for use in graph.producers("chain:C")] == ["increment", "S_i_0"]
    assert [use.part for use in graph.consumers("chain:A")] == ["double", "S_i_0"]
    assert [use.kind for use in graph.users("chain:B")] == ["call", "call"]


def test_names_are_shown_as_they_are():
    """A quote in a name does not end it, nor does anything else."""
    name = '\\22]; evil [label=\\22<b>\\\\\\0A'
    text = (
        f'func.func @"f{name}"(%a: memref<4xi32> {{allo.name = "A{name}"}}, %b: memref<4xi32> {{allo.name = "B"}}) {{\n'
        "affine.for %i = 0 to 4 { %x = affine.load %a[%i] : memref<4xi32>\n"
        "affine.store %x, %b[%i] : memref<4xi32> }\nreturn }"
    )
    drawing = allo.Schedule.from_mlir(text).draw()
    quoted = '\\"]; evil [label=\\"<b>\\\\<U+000A>'
    assert f'  label="f{quoted}";' in drawing.dot and f'[label="A{quoted}' in drawing.dot
    assert "<b>" not in drawing.svg and "&lt;b&gt;" in drawing.svg
