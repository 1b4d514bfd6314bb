"""Shapes of a picture, read back from its SVG: boxes, texts and the points along its lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
CHARACTER, HEIGHT = 7, 11  # pixels that a character may take


@dataclass(frozen=True)
class Area:
    name: str
    x: float
    y: float
    right: float
    lower: float

    def overlaps(self, other: Area) -> bool:
        return self.x < other.right and other.x < self.right and self.y < other.lower and other.y < self.lower

    def holds(self, x: float, y: float, margin: float = 0.0) -> bool:
        across = self.x + margin < x < self.right - margin
        return across and self.y + margin < y < self.lower - margin

    def within(self, other: Area) -> bool:
        return self.x >= other.x and self.y >= other.y and self.right <= other.right and self.lower <= other.lower


def rectangle(rect: ElementTree.Element, name: str = "") -> Area:
    x, y, width, height = (float(rect.get(key, 0)) for key in ("x", "y", "width", "height"))
    return Area(name, x, y, x + width, y + height)


def text_area(text: ElementTree.Element) -> Area:
    shown = text.text or ""
    x, y = float(text.get("x", 0)), float(text.get("y", 0))
    width = CHARACTER * len(shown)
    left = x - {"middle": width / 2, "end": width}.get(text.get("text-anchor", ""), 0)
    return Area(shown, left, y - HEIGHT + 2, left + width, y + 2)


def vertices(picture: str) -> dict[str, tuple[Area, list[Area]]]:
    """The box of each vertex with its texts."""
    found = {}
    for group in ElementTree.fromstring(picture).iter(f"{SVG}g"):
        (title,), (rect,) = group.findall(f"{SVG}title"), group.findall(f"{SVG}rect")
        name = title.text or ""
        assert name not in found
        found[name] = rectangle(rect, name), [text_area(text) for text in group.findall(f"{SVG}text")]
    return found


def lines(picture: str) -> list[list[tuple[float, float]]]:
    """Points along the lines between vertices."""
    root = ElementTree.fromstring(picture)
    paths = [p for p in root.iter(f"{SVG}path") if p.get("class") in ("line", "hot", "same") and len(p)]
    return [points(path.get("d", "")) for path in paths]


def points(path: str) -> list[tuple[float, float]]:
    """Points along a path of M, H, V, C, h and v, three pixels apart at most."""
    found: list[tuple[float, float]] = []
    for letter, text in re.findall(r"([MHVChv])([^MHVChv]*)", path):
        numbers = [float(number) for number in text.split()]
        x, y = found[-1] if found else (0.0, 0.0)
        match letter:
            case "M":
                found.append((numbers[0], numbers[1]))
            case "C":
                found += [bezier((x, y), numbers, k / 40) for k in range(1, 41)]
            case _:
                ends = {"H": (numbers[0], y), "V": (x, numbers[0]), "h": (x + numbers[0], y), "v": (x, y + numbers[0])}
                to, down = ends[letter]
                count = max(1, int(abs(to - x) + abs(down - y)) // 3)
                found += [(x + (to - x) * k / count, y + (down - y) * k / count) for k in range(1, count + 1)]
    return found


def bezier(start: tuple[float, float], numbers: list[float], t: float) -> tuple[float, float]:
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    controls = [start, *((numbers[k], numbers[k + 1]) for k in (0, 2, 4))]
    across, down = (sum(w * c[axis] for w, c in zip(weights, controls, strict=True)) for axis in (0, 1))
    return across, down


def demand_readable(picture: str) -> None:
    """No boxes on one another, no line through a box, no text out of its box, nothing outside of the picture."""
    root = ElementTree.fromstring(picture)
    whole = Area("picture", 0, 0, float(root.get("width", 0)), float(root.get("height", 0)))
    drawn = vertices(picture)
    boxes = [box for box, _ in drawn.values()]
    for number, box in enumerate(boxes):
        assert box.within(whole), box
        assert not [other for other in boxes[number + 1 :] if box.overlaps(other)], box
    for box, texts in drawn.values():
        assert texts and all(text.within(box) for text in texts), box
    for line in lines(picture):
        assert all(whole.holds(*point) for point in line)
        assert not [box for box in boxes if any(box.holds(*point, margin=0.5) for point in line)], line[0]
    assert all(text_area(text).within(whole) for text in root.iter(f"{SVG}text"))
