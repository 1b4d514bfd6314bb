"""Random kernels of reductions: first values, updates in all spellings, triangles and bounds known at run time."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from allo import Schedule

from .expressions import INTEGERS, Array, Draw, Scope, element, leaf

EXTENT = 8
NARROW = ("int8", "uint8", "int16", "uint5", "int7")


def _bounds(draw: Draw, loops: dict[str, tuple[int, int]]) -> tuple[str, int, int]:
    """The arguments of `range`, and the least and greatest value of the loop."""
    choice = draw.random()
    if loops and choice < 0.4:
        other = draw.choice(list(loops))
        low, high = loops[other]
        forms = [
            (f"{other}, {EXTENT}", low, EXTENT - 1),
            (f"{other}", 0, max(high - 1, 0)),
            (f"{other} + 1", 0, high),
            (f"{other} // 2, {other} + 1", 0, high),
            (f"{other}, {EXTENT}, 2", low, EXTENT - 1),
            (f"{EXTENT} - {other}", 0, EXTENT - 1 - low),
        ]
        return draw.choice(forms)
    if choice < 0.55:
        return draw.choice([("m", 0, EXTENT - 1), ("1, m", 1, EXTENT - 1), ("0, m, 3", 0, EXTENT - 1)])
    high = draw.choice([3, 5, 6, EXTENT, EXTENT, EXTENT])
    return (str(high), 0, high - 1) if draw.random() < 0.8 else (f"1, {high}", 1, high - 1)


def _update(scope: Scope, target: str, kind: str) -> list[str]:
    draw = scope.draw
    one, two = leaf(scope), leaf(scope)
    forms = [
        *([f"{target} += {one}"], [f"{target} -= {one}"], [f"{target} = {target} + {one} + {two}"]),
        *([f"{target} = {one} - 3 + {target}"], [f"{target} = {target} - {one} - {two}"], [f"{target} *= {one}"]),
        *([f"{target} = max({target}, {one})"], [f"{target} = min({one}, {target})"]),
        *([f"if {one} > {target}:", f"    {target} = {one}"], [f"if {target} >= {one}:", f"    {target} = {one}"]),
        [f"acc: {kind} = {target}", f"acc += {one}", f"{target} = acc"],
        [f"if {one} > {two}:", f"    {target} += {one}"],
        [f"{target} = {target} + ({one} if {two} > 1 else {two})"],
        [f"{target} = {one} - {target}"],
    ]
    if kind in INTEGERS:
        forms += [[f"x: {draw.choice(NARROW)} = {target} + {one}", f"{target} = x"], [f"{target} ^= {one}"]]
    return draw.choice(forms)


def reductions(draw: Draw, kind: str) -> list[str]:
    """A nest that updates a row with a first value, and a nest that uses it."""
    arrays = (Array("A", kind, (EXTENT, EXTENT)), Array("B", kind, (EXTENT, EXTENT)), Array("V", kind, (EXTENT,)))
    scope = Scope(draw, arrays)
    lines = ["m: int32 = n % 9", f"H: {kind}[{EXTENT}] = {draw.choice([0, 0, 1])}", f"s: {kind} = 0"]
    inside = draw.random() < 0.3
    loops: dict[str, tuple[int, int]] = {}
    body = []
    names = ["i", "j", "k"][: draw.choice([2, 2, 3])]
    for depth, name in enumerate(names):
        text, low, high = _bounds(draw, loops) if depth or draw.random() < 0.3 else (str(EXTENT), 0, EXTENT - 1)
        body.append("    " * depth + f"for {name} in range({text}):")
        loops[name] = (low, high)
        scope = scope.inside(name, low, high)
        if depth == 0 and inside:
            body.append(f"    H[{name}] = {draw.choice(['0', '1', f'V[{name}]'])}")
    places = ["s", "V[0]", "H[i]", "H[i]", "H[i]", f"H[{names[-1]}]", f"H[{names[-1]} // 2]"]
    if kind in INTEGERS:
        places.append(f"H[(A[i, {names[-1]}] + 0) % {EXTENT}]")
    for _ in range(draw.choice([1, 1, 2])):
        body += ["    " * len(names) + line for line in _update(scope, draw.choice(places), kind)]
    reader = Scope(draw, arrays).inside("x", 0, EXTENT - 2)
    read = draw.choice(["H[x]", "H[x]", "H[x] + H[x + 1]", "H[7 - x]"])
    target = draw.choice(["V[x] = ", "V[x] += ", "B[x, x] = ", f"{element(reader, arrays[1])} = "])
    last = draw.choice([EXTENT - 1, EXTENT]) if read in ("H[x]", "H[7 - x]") else EXTENT - 1
    if last == EXTENT and not target.startswith("V[x]"):
        last -= 1
    lines += [*body, f"for x in range({last}):", f"    {target}{read} + 1", "V[0] += s"]
    declared = ", ".join(f"{a.name}: {kind}[{', '.join(map(str, a.shape))}]" for a in arrays)
    return [f"def top({declared}, n: int32):", *(f"    {line}" for line in lines)]


def recipe(draw: random.Random, s: Schedule) -> Iterator[Callable[[], object]]:
    """Steps that first values, updates and bounds used to stand in the way of."""
    nests = [list(nest) for nest in s.get_loops()]
    nest, last = nests[-2] if len(nests) > 1 else nests[0], nests[-1]
    for _ in range(draw.randrange(3)):
        loop, factor = draw.choice(nest), draw.choice([2, 3, 4])
        yield draw.choice(
            [
                lambda loop=loop, factor=factor: s.split(loop, factor),
                lambda loop=loop: s.unroll(loop),
                lambda: s.reorder(*draw.sample(nest, len(nest))),
                lambda loop=loop: s.buffer_at("H", loop),
            ]
        )
    yield draw.choice(
        [
            lambda: s.compute_at(nest[0], last[0]),
            lambda: s.fuse(nest[0], last[0]),
            lambda: s.dataflow("top"),
            lambda: s.relay("H", f"top:{last[0].nest}"),
            lambda: s.reorder(*draw.sample(nest, len(nest))),
        ]
    )
