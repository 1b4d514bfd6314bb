"""Writes the tables of docs/types.md, between their marks, from the rule sets of the type checker.

python tests/docs/generate_types.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from allo.frontend.typing.rules import FixedRule, Rule, TypingRules
from allo.frontend.typing.tables import CPP, DEFAULT
from allo.ir.types import Fixed, Int, UFixed, UInt

PAGE = Path(__file__).resolve().parents[2] / "docs" / "types.md"
KINDS = {"int": Int, "uint": UInt}
PAIRS = [(a, b) for a in KINDS for b in KINDS]
SIGNS = {"either": "if an operand is", "right": "if the right one is", "signed": "always"}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head)]
    lines += [["---"] * len(lines[0]), *map(list, rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def integers(rules: TypingRules) -> str:
    """Operators with one row of types are on one line."""
    grouped: dict[tuple[str, ...], list[str]] = {}
    for op, row in rules.integers.items():
        grouped.setdefault(tuple(row[KINDS[a], KINDS[b]].text for a, b in PAIRS), []).append(op)
    head = ["operator", *(f"`{a}(a)`, `{b}(b)`" for a, b in PAIRS)]
    return table(head, ([", ".join(map(code, ops)), *map(code, texts)] for texts, ops in grouped.items()))


def unary(rows: Mapping[str, Mapping[type, Rule]]) -> str:
    names = {"neg": "`-x`", "abs": "`abs(x)`"}
    return table(
        ["operator", "`int(a)`", "`uint(a)`"],
        ([names[op], *(code(row[kind].text) for kind in (Int, UInt))] for op, row in rows.items()),
    )


def fixed(rules: TypingRules) -> str:
    grouped: dict[FixedRule, list[str]] = {}
    for op, row in rules.fixed.items():
        grouped.setdefault(row, []).append(op)
    rows = [
        [
            ", ".join(map(code, ops)),
            code(row.before.text.replace(" if u else j", " if both are unsigned, else j")),
            "an integer" if row.whole else code(row.behind.text),
            SIGNS[row.sign],
        ]
        for row, ops in grouped.items()
    ]
    for op, name in (("neg", "`-x`"), ("abs", "`abs(x)`")):
        signed, unsigned = (rules.fixed_unary[op][kind].text for kind in (Fixed, UFixed))
        before = code(signed) if signed == unsigned else f"{code(signed)}; unsigned {code(unsigned)}"
        rows.append([name, before, "`f`", "always" if op == "neg" else "if the operand is"])
    return table(["operator", "bits before the point", "bits behind the point", "signed"], rows)


def promotion(rules: TypingRules) -> str:
    rows = [
        [f"`{name}(a)`", code(rules.promotion[kind].text), code(rules.literal[kind].text)]
        for name, kind in KINDS.items()
    ]
    return table(["operand", "counts as", "a literal that needs as much counts as"], rows)


TABLES = {
    "integers": integers(DEFAULT),
    "unary": unary(DEFAULT.unary),
    "fixed": fixed(DEFAULT),
    "promotion": promotion(CPP),
    "cpp": integers(CPP),
}


def page(text: str) -> str:
    """The text with each table, between `<!-- table NAME -->` and `<!-- end -->`, as the code has it."""

    def current(match: re.Match[str]) -> str:
        return f"<!-- table {match[1]} -->\n{TABLES[match[1]]}\n<!-- end -->"

    return re.sub(r"<!-- table (\w+) -->\n.*?<!-- end -->", current, text, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
