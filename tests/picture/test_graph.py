"""Pictures of graphs: what is drawn can be read, whatever the graph is."""

from __future__ import annotations

import random
from xml.etree import ElementTree

import pytest

from allo.picture.graph import Vertex, svg
from allo.picture.layered import layered
from tests.seeds import sweep

from .geometry import SVG, demand_readable, lines, points, vertices

KINDS = ("array", "stream", "nest", "call", "statement")


def random_graph(seed: int) -> tuple[dict[str, Vertex], list[tuple[str, str]], list[tuple[str, str]], list[str]]:
    """Functions with vertices, edges within them, circles and doubled ones too, and identities between them."""
    draws = random.Random(seed)
    functions = [f"f{n}" * draws.randint(1, 5) for n in range(draws.randint(1, 4))]
    names = [f"v{n}" for n in range(draws.randint(1, 24))]
    found = {}
    for name in names:
        details = tuple("d" * draws.randint(1, 20) for _ in range(draws.randint(0, 3)))
        heat = draws.choice((0.0, 0.0, draws.random()))
        function = draws.choice([*functions, ""])
        found[name] = Vertex(name, name * draws.randint(1, 8), draws.choice(KINDS), function, details, heat)
    pairs = [(draws.choice(names), draws.choice(names)) for _ in range(draws.randint(0, 40))]
    flows = [(a, b) for a, b in pairs if found[a].function == found[b].function]
    same = [(a, b) for a, b in pairs if found[a].function != found[b].function]
    return found, flows, same, functions


@sweep(300, quick=10)
def test_any_graph_can_be_read(seed: int) -> None:
    found, flows, same, functions = random_graph(seed)
    picture = svg(found, flows, same, functions, "a remark")
    demand_readable(picture)
    assert set(vertices(picture)) == set(found)
    assert len(lines(picture)) == len(flows) + len(same)
    assert picture == svg(found, flows, same, functions, "a remark")


@sweep(300, quick=10)
def test_lines_begin_and_end_at_their_boxes(seed: int) -> None:
    found, flows, _, _ = random_graph(seed)
    layout = layered({name: vertex.size for name, vertex in found.items()}, flows)
    for (a, b), (path, x, y, turned) in zip(flows, layout.paths, strict=True):
        left, right = (layout.boxes[b], layout.boxes[a]) if turned and a != b else (layout.boxes[a], layout.boxes[b])
        (begin, top), (end, lower) = (points(path)[k] for k in (0, -1))
        assert begin == left.x + left.width and left.y < top < left.y + left.height
        assert a == b or (end == right.x and right.y < lower < right.y + right.height)
        target = layout.boxes[b]
        assert x in (target.x, target.x + target.width) and target.y < y < target.y + target.height


def test_data_flow_to_the_right_but_for_one_edge_of_a_circle() -> None:
    names = dict.fromkeys("abcd", (40, 26))
    layout = layered(names, [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("a", "d")])
    assert layout.boxes["a"].x < layout.boxes["b"].x < layout.boxes["c"].x < layout.boxes["d"].x
    assert [turned for *_, turned in layout.paths] == [False, False, True, False, False]


def test_an_edge_that_passes_a_column_goes_round_its_boxes() -> None:
    """As seen by hand: without a place of its own in the column it would go straight through b."""
    layout = layered(dict.fromkeys("abc", (40, 26)), [("a", "b"), ("b", "c"), ("a", "c")])
    box = layout.boxes["b"]
    inside = [x for x, y in points(layout.paths[2][0]) if box.x <= x <= box.x + box.width and box.y <= y < box.y + 26]
    assert not inside


def test_names_of_any_kind_are_shown() -> None:
    vertex = Vertex("x", "a<b>&\x01\n名前", "array", "f")
    picture = svg({"x": vertex}, [], [], ["f"])
    (text,) = (t for t in ElementTree.fromstring(picture).iter(f"{SVG}text") if t.text and t.text.startswith("a<b>"))
    assert text.text == "a<b>&<U+0001><U+000A>名前"
    demand_readable(picture)


def test_colours_are_those_of_light_and_of_dark_pages() -> None:
    picture = svg({"x": Vertex("x", "x", "array", "f")}, [], [], ["f"])
    style = next(ElementTree.fromstring(picture).iter(f"{SVG}style")).text or ""
    light, mark, dark = style.partition("@media(prefers-color-scheme:dark)")
    assert mark and light.count(".array{") == dark.count(".array{") == 1
    used = {shape.get("class") for shape in ElementTree.fromstring(picture).iter() if shape.get("class")}
    assert all(f".{kind}{{" in light and f".{kind}{{" in dark for kind in used - {"allo-picture"})
    assert "nest" not in style  # only what is used


@pytest.mark.parametrize("count", [0, 1])
def test_small_graphs(count: int) -> None:
    found = {f"v{n}": Vertex(f"v{n}", "v", "call", "f") for n in range(count)}
    demand_readable(svg(found, [], [], ["f"]))
