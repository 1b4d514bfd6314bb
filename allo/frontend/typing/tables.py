"""The rule sets that a kernel can be compiled with: the exact rules of HLS types, and those of C++.

The default follows HLS arbitrary-precision types: a result is as wide as it needs to be to hold every value, so
nothing is lost before an assignment converts (Allo paper, section 7, *Type System*). The set `cpp` follows the
integer promotions and the usual arithmetic conversions of C++ (ISO C++20, [conv.prom] and [expr.arith.conv]).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import ScheduleError
from ...ir.types import Fixed, Int, UFixed, UInt
from .rules import FixedRule, Rule, TypingRules, fixed_rule, rule

_KINDS = ((Int, Int), (Int, UInt), (UInt, Int), (UInt, UInt))
_SAME: Mapping[type, Rule] = {Int: rule("int(a)", "a"), UInt: rule("uint(a)", "a")}


def _rows(*texts: str) -> dict[tuple[type, type], Rule]:
    return {kinds: rule(text, "a", "b") for kinds, text in zip(_KINDS, texts, strict=True)}


_QUOTIENT = _rows("int(a + 1)", "int(a)", "int(a + 1)", "uint(a)")
_LEFT = _rows("int(a)", "int(a)", "uint(a)", "uint(a)")
_COMMON = _rows("int(max(a, b))", "int(max(a, b + 1))", "int(max(a + 1, b))", "uint(max(a, b))")
_COMMON_OPERATORS = ("&", "|", "^", "min", "max", "compare")

_FIXED: dict[str, FixedRule] = {
    "+": fixed_rule("max(i, j) + 1", "max(f, g)", aligned=True),
    "-": fixed_rule("max(i, j) + 1", "max(f, g)", aligned=True, sign="signed"),
    "*": fixed_rule("i + j", "f + g"),
    "/": fixed_rule("i + g + s", "f"),
    "//": fixed_rule("i + g + s", "0", whole=True),
    "%": fixed_rule("min(i, j) if u else j", "max(f, g)", sign="right"),
    **dict.fromkeys(("min", "max", "compare"), fixed_rule("max(i, j)", "max(f, g)", aligned=True)),
}
_FIXED_UNARY: Mapping[str, Mapping[type, Rule]] = {
    "neg": {Fixed: rule("i + 1", "i"), UFixed: rule("i + 1", "i")},
    "abs": {Fixed: rule("i + 1", "i"), UFixed: rule("i", "i")},
}

DEFAULT = TypingRules(
    name="default",
    promotion=_SAME,
    literal=_SAME,
    integers={
        "+": _rows("int(max(a, b) + 1)", "int(max(a, b + 1) + 1)", "int(max(a + 1, b) + 1)", "uint(max(a, b) + 1)"),
        "-": _rows("int(max(a, b) + 1)", "int(max(a, b + 1) + 1)", "int(max(a + 1, b) + 1)", "int(max(a, b) + 1)"),
        "*": _rows("int(a + b)", "int(a + b)", "int(a + b)", "uint(a + b)"),
        "/": _QUOTIENT,
        "//": _QUOTIENT,
        "%": _rows("int(b)", "uint(b)", "int(b)", "uint(min(a, b))"),
        "<<": _LEFT,
        ">>": _LEFT,
        **dict.fromkeys(_COMMON_OPERATORS, _COMMON),
    },
    unary={
        "neg": {Int: rule("int(a + 1)", "a"), UInt: rule("int(a + 1)", "a")},
        "abs": {Int: rule("int(a + 1)", "a"), UInt: rule("uint(a)", "a")},
    },
    fixed=_FIXED,
    fixed_unary=_FIXED_UNARY,
    truncates=False,
    wraps=False,
)

# A width that C++ lacks becomes the next one that it has; what is wider than 64 bits stays.
_USUAL = _rows("int(max(a, b))", "int(a) if a > b else uint(b)", "uint(a) if a >= b else int(b)", "uint(max(a, b))")
CPP = TypingRules(
    name="cpp",
    promotion={
        Int: rule("int(32 if a <= 32 else 64 if a <= 64 else a)", "a"),
        UInt: rule(
            "int(32) if a < 32 else uint(32) if a == 32 else int(64) if a < 64 else uint(a)",
            "a",
        ),
    },
    literal={
        Int: rule("int(32 if a <= 32 else 64 if a <= 64 else a)", "a"),
        UInt: rule("int(32) if a < 32 else int(64) if a < 64 else uint(a)", "a"),
    },
    integers={
        **dict.fromkeys(("+", "-", "*", "/", "//", "%", *_COMMON_OPERATORS), _USUAL),
        "<<": _LEFT,
        ">>": _LEFT,
    },
    unary={"neg": _SAME, "abs": _SAME},
    fixed={op: row for op, row in _FIXED.items() if op not in ("//", "%")},
    fixed_unary=_FIXED_UNARY,
    truncates=True,
    wraps=True,
)

RULE_SETS: Mapping[str, TypingRules] = {rules.name: rules for rules in (DEFAULT, CPP)}


def rule_set(name: str) -> TypingRules:
    """The rule set of this name; ScheduleError if there is none."""
    if not isinstance(name, str) or name not in RULE_SETS:
        known = " and ".join(f'"{known}"' for known in RULE_SETS)
        raise ScheduleError(f"there is no typing rule set {name!r}", hint=f"the rule sets are {known}")
    return RULE_SETS[name]
