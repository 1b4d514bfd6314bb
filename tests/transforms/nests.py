"""Texts of affine nests: one statement `target = target + left * right` in loops of given names and extents."""

from collections.abc import Sequence

SIZE = 24


def accumulate(target: str, left: str, right: str) -> str:
    """The statement; an access is a buffer and its subscripts, `"C i j"`."""
    return f"""
      %l = affine.load {access(left)}
      %r = affine.load {access(right)}
      %t = affine.load {access(target)}
      %p = arith.mulf %l, %r : f32
      %s = arith.addf %t, %p : f32
      affine.store %s, {access(target)}"""


def copy(target: str, source: str) -> str:
    return f"""
      %v = affine.load {access(source)}
      affine.store %v, {access(target)}"""


def access(words: str) -> str:
    buffer, *subscripts = words.split()
    named = (f"%{s}" if s[0].isalpha() else s for s in subscripts)
    shape = "x".join([str(SIZE)] * len(subscripts) + ["f32"])
    return f"%{buffer}[{', '.join(named)}] : memref<{shape}>"


def nest(loops: Sequence[str], body: str, attributes: str = "") -> str:
    """`body` in loops named by `loops`, outermost first; a name may be followed by its bounds (`"j 0 to %i"`)."""
    text = body
    for loop in reversed(loops):
        name, *bounds = loop.split(maxsplit=1)
        marks = ", ".join(filter(None, [f'allo.name = "{name}"', attributes]))
        text = f"affine.for %{name} = {bounds[0] if bounds else f'1 to {SIZE - 1}'} {{{text}\n}} {{{marks}}}"
    return text


def function(*statements: str, matrices: str = "", vectors: str = "") -> str:
    """The function `f` over square matrices and vectors with one-letter names."""
    square, row = f"memref<{SIZE}x{SIZE}xf32>", f"memref<{SIZE}xf32>"
    arguments = [f"%{name}: {square}" for name in matrices] + [f"%{name}: {row}" for name in vectors]
    body = "\n".join(statements)
    return f"func.func @f({', '.join(arguments)}) {{\n%zero = arith.constant 0.0 : f32\n{body}\nreturn\n}}"
