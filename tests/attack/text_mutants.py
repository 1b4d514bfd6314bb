"""Faults in the text of a printed module: another constant, predicate, operation, bound, operand, type or line."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

_OPERATIONS = (
    *(
        ("addi", "subi"),
        ("subi", "addi"),
        ("muli", "addi"),
        ("addf", "subf"),
        ("subf", "addf"),
        ("mulf", "divf"),
    ),
    *(("divf", "mulf"), ("maxsi", "minsi"), ("minsi", "maxsi"), ("maxsi", "maxui"), ("maximumf", "minimumf")),
    *(("extsi", "extui"), ("extui", "extsi"), ("shrsi", "shrui"), ("shrui", "shrsi"), ("shli", "shrui")),
    *(("andi", "ori"), ("ori", "andi"), ("sitofp", "uitofp"), ("uitofp", "sitofp"), ("fptosi", "fptoui")),
    *(("divsi", "divui"), ("floordivsi", "divsi"), ("remsi", "remui"), ("minimumf", "minnumf")),
)
_PREDICATES = (
    *("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"),
    *("oeq", "une", "olt", "ole", "ogt", "oge"),
)
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")


def mutated(text: str, count: int, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Up to `count` different texts with one change each, and what it is; many are no modules."""
    seen = {text}
    for _ in range(count * 6):
        if len(seen) > count:
            return
        lines = text.splitlines()
        change = draw.choice(CHANGES)
        what = change(lines, draw)
        made = "\n".join(lines) + "\n"
        if what and made not in seen:
            seen.add(made)
            yield f"{change.__name__}: {what}", made


def _edited(
    lines: list[str],
    draw: random.Random,
    pattern: str,
    replaced: Callable[[re.Match[str]], str],
    only: str = "",
) -> str:
    """Replace one match of a pattern in a line that has `only` in it; the line before and after."""
    places = [(k, m) for k, line in enumerate(lines) if only in line for m in re.finditer(pattern, line)]
    if not places:
        return ""
    number, match = draw.choice(places)
    old = lines[number]
    lines[number] = old[: match.start()] + replaced(match) + old[match.end() :]
    return f"{old.strip()} -> {lines[number].strip()}" if lines[number] != old else ""


def number(lines: list[str], draw: random.Random) -> str:
    """A constant is another one."""
    step = draw.choice([-1, 1, 1, 2, 1 << 32])
    return _edited(
        lines, draw, r"(?<=constant )-?\d+(?= :)", lambda m: str(int(m.group()) + step), "arith.constant"
    )


def decimal(lines: list[str], draw: random.Random) -> str:
    """A float constant is another one."""
    other = draw.choice(["0.0", "-0.0", "1.0", "2.0", "0x7F800000"])
    return _edited(lines, draw, r"(?<=constant )-?\d+\.\d+(e[+-]\d+)?", lambda _: other, "arith.constant")


def bound(lines: list[str], draw: random.Random) -> str:
    """A loop begins, ends or steps elsewhere."""
    step = draw.choice([-1, 1, 2])
    pattern = r"(?<= = )-?\d+(?= to)|(?<= to )-?\d+|(?<=step )\d+"
    return _edited(lines, draw, pattern, lambda m: str(int(m.group()) + step), "for %")


def predicate(lines: list[str], draw: random.Random) -> str:
    """A comparison is another one."""
    other = draw.choice(_PREDICATES)
    return _edited(lines, draw, r"(?<=cmp[if] )\w+", lambda _: other)


def operation(lines: list[str], draw: random.Random) -> str:
    """Another operation on the same operands."""
    one, other = draw.choice(_OPERATIONS)
    return _edited(lines, draw, rf"(?<=arith\.){one}\b", lambda _: other)


def condition(lines: list[str], draw: random.Random) -> str:
    """A number or a relation of an affine set or map."""
    step = draw.choice([-1, 1, 2])
    if draw.random() < 0.3:
        return _edited(
            lines, draw, r"(>=|==) 0", lambda m: "== 0" if m.group() == ">= 0" else ">= 0", "affine_set"
        )
    return _edited(lines, draw, r"(?<=[-+*] )\d+", lambda m: str(int(m.group()) + step), "affine_")


def subscript(lines: list[str], draw: random.Random) -> str:
    """A subscript of an affine access is another one."""
    step = draw.choice([" + 1", " - 1", " * 2", " mod 3", " floordiv 2"])
    pattern = r"(?<=\[)%[\w$.-]+(?=[\],])|(?<=, )%[\w$.-]+(?=\])"
    return _edited(lines, draw, pattern, lambda m: m.group() + step, "affine.")


def operand(lines: list[str], draw: random.Random) -> str:
    """Another value is used."""
    values = _VALUE.findall("\n".join(lines))
    other = draw.choice(values) if values else ""
    return _edited(lines, draw, r"(?<=[ (,\[])%[\w$.-]+(?=[,)\] ])(?! =)", lambda _: other)


def swapped(lines: list[str], draw: random.Random) -> str:
    """Two operands are exchanged."""
    return _edited(lines, draw, r"(%[\w$.-]+), (%[\w$.-]+)(?= :)", lambda m: f"{m[2]}, {m[1]}")


def kind(lines: list[str], draw: random.Random) -> str:
    """A conversion goes through another width."""
    other = draw.choice(["i1", "i7", "i8", "i9", "i16", "i32", "i33", "i64"])
    return _edited(lines, draw, r"\bi\d+\b", lambda _: other, "arith.")


def depth(lines: list[str], draw: random.Random) -> str:
    """All FIFOs of a type hold another number of elements."""
    found = sorted(set(re.findall(r"!allo\.stream<[^<>]*?, (\d+)>", "\n".join(lines))))
    if not found:
        return ""
    old, new = draw.choice(found), draw.choice(["1", "2", "3", "5", "64"])
    lines[:] = [re.sub(rf"(!allo\.stream<[^<>]*?, ){old}>", rf"\g<1>{new}>", line) for line in lines]
    return f"streams of depth {old} have {new}"


def dropped(lines: list[str], draw: random.Random) -> str:
    """A store, put, get or call is missing, or happens twice."""
    names = (
        "affine.store",
        "memref.store",
        "allo.stream_put",
        "allo.stream_get",
        "func.call",
        "call",
        "memref.copy",
    )
    places = [k for k, line in enumerate(lines) if re.sub(r"^%\w+ = ", "", line.strip()).startswith(names)]
    if not places:
        return ""
    place = draw.choice(places)
    old = lines[place].strip()
    if draw.random() < 0.5:
        del lines[place]
        return f"no {old}"
    lines.insert(place, re.sub(r"^\s*%\w+ =", "%again =", lines[place]))
    return f"twice {old}"


def moved(lines: list[str], draw: random.Random) -> str:
    """Two lines in sequence are exchanged."""
    flat = ["." in line and "{" not in line and "}" not in line for line in lines]
    places = [k for k in range(1, len(lines) - 1) if flat[k] and flat[k + 1]]
    if not places:
        return ""
    place = draw.choice(places)
    lines[place], lines[place + 1] = lines[place + 1], lines[place]
    return f"{lines[place].strip()} before {lines[place + 1].strip()}"


def region(lines: list[str], draw: random.Random) -> str:
    """What ran as processes runs in sequence, and the other way round."""
    if draw.random() < 0.5:
        return _edited(lines, draw, r"allo\.dataflow(, )?", lambda _: "")
    return _edited(lines, draw, r"attributes \{", lambda _: "attributes {allo.dataflow, ", "func.func")


CHANGES = (
    *(
        number,
        number,
        decimal,
        bound,
        bound,
        predicate,
        operation,
        operation,
        condition,
        condition,
        subscript,
    ),
    *(subscript, operand, operand, swapped, kind, kind, depth, dropped, dropped, moved, region),
)
