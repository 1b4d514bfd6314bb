"""Decides what the integers of the headers must compute: exact Python integers, wrapped where a type says so."""

from __future__ import annotations

import random

from allo.frontend.typing.tables import DEFAULT
from allo.ir.types import Int, UInt, wrap

Integer = Int | UInt
Results = dict[str, tuple[Integer | None, int]]
INT32, UINT32 = Int(32), UInt(32)


def unchecked(signed: bool, width: int) -> Integer:
    """A type of any width, also of more bits than kernels may have."""
    made = object.__new__(Int if signed else UInt)
    object.__setattr__(made, "width", width)
    return made


def is_signed(scalar: Integer) -> bool:
    return isinstance(scalar, Int)


def result_type(op: str, left: Integer, right: Integer) -> Integer:
    """The rule of HLS; that of kernels, but for `%`, which has the sign of the left operand."""
    (a, s), (b, t) = (left.width, is_signed(left)), (right.width, is_signed(right))
    common = max(a + (t and not s), b + (s and not t))
    match op:
        case "+":
            made = unchecked(s or t, common + 1)
        case "-":
            made = unchecked(True, common + 1)
        case "*":
            made = unchecked(s or t, a + b)
        case "/":
            made = unchecked(s or t, a + t)
        case "%":
            return unchecked(s, min(a, b + (s and not t)))
        case _:
            made = unchecked(s or t, common)
    if made.width <= 1024:
        assert made == DEFAULT.result(op, left, right)
    return made


def divided(a: int, b: int) -> int:
    """Toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shifted(a: int, amount: int, scalar: Integer) -> int:
    """To the left; to the right by a negative amount."""
    far = scalar.width + 1
    amount = max(-far, min(far, amount))
    return wrap(a << amount if amount >= 0 else a >> -amount, scalar)


def unsigned(a: int, scalar: Integer) -> int:
    return a & ((1 << scalar.width) - 1)


def exact(op: str, a: int, b: int) -> int:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return divided(a, b)
        case "%":
            return a - b * divided(a, b)
        case "&":
            return a & b
        case "|":
            return a | b
        case _:
            return a ^ b


def bits(a: int, scalar: Integer, high: int, low: int) -> Results:
    """The results of what takes single bits and ranges."""
    width = scalar.width
    text = f"{unsigned(a, scalar):0{width}b}"[::-1]  # bit i is text[i]
    chosen = [text[i] for i in range(low, high + 1)] or [text[i] for i in range(low, high - 1, -1)]
    first, last = min(low, high), max(low, high)
    mask = ((1 << (last - first + 1)) - 1) << first
    toggled = a ^ (1 << low)
    put = toggled | (1 << high) if text[low] == "1" else toggled & ~(1 << high)
    return {
        "range": (UInt(width), int("".join(reversed(chosen)), 2)),
        "put": (scalar, wrap(a ^ mask, scalar)),
        "bits": (scalar, wrap(put, scalar)),
        "reverse": (scalar, wrap(int(text, 2), scalar)),
        "ones": (None, text.count("1")),
        "or": (None, int(a != 0)),
        "int64": (None, wrap(a, Int(64))),
        "neg": (unchecked(True, width + 1), -a),
        "~": (scalar, wrap(~a, scalar)),
    }


def expected(left: Integer, right: Integer, a: int, b: int, amount: int, high: int, low: int) -> Results:
    """The result of everything that programs/integers.cpp prints, with its type."""
    results: Results = {}
    for op in "+-*&|^" + ("/%" if b else ""):
        made = result_type(op, left, right)
        results[op] = (made, exact(op, a, b))
    for op, truth in (("==", a == b), ("!=", a != b), ("<", a < b), ("<=", a <= b), (">", a > b), (">=", a >= b)):
        results[op] = (None, int(truth))
    for op in "+*-|":
        results[f"{op}="] = (left, wrap(exact(op, a, b), left))
    results |= {"convert": (left, wrap(b, left)), "post++": (left, a)}
    results |= {"++": (left, wrap(a + 1, left)), "--": (left, wrap(a - 1, left))}
    results |= bits(a, left, high % left.width, low % left.width)
    for op, by in (("<<", amount), (">>", -amount), ("<<b", b), (">>b", -b)):
        results[op] = (left, shifted(a, by, left))
    both = unchecked(False, left.width + right.width)
    results["concat"] = (both, unsigned(a, left) << right.width | unsigned(b, right))
    results |= {"split": (None, 1), "hex": (None, 1), "double": (None, 0)}
    results["int+"] = (result_type("+", left, INT32), a + amount)
    results["int-"] = (result_type("-", INT32, left), amount - a)
    results["int*"] = (result_type("*", INT32, left), amount * a)
    results["uint*"] = (result_type("*", left, UINT32), a * high)
    return results | {"int<": (None, int(amount < a)), "uint<": (None, int(a < high))}


def operand(scalar: Integer, rng: random.Random) -> int:
    """Often at the limits, or with long runs of equal bits."""
    width = scalar.width
    match rng.randrange(4):
        case 0:
            chosen = rng.choice([0, 1, -1, 1 << (width - 1), (1 << (width - 1)) - 1])
        case 1:
            chosen = (1 << rng.randrange(width + 1)) - (1 << rng.randrange(width + 1))
        case 2:
            chosen = rng.getrandbits(rng.randrange(1, width + 1))
        case _:
            chosen = rng.getrandbits(width)
    return wrap(chosen, scalar)
