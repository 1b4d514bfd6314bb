"""How what a loop reads moves over a buffer, what it may leave, and models of one nest alone."""

from __future__ import annotations

import pytest

from allo.poly import escapes, extract, window


def ask(parse, text, name, first=0):
    function = parse(text)
    return window(extract(function.op), function.values["A"], function.loops[name], first)


def sizes(answer):
    return [extent.size for extent in answer.touched.extents]


def stencil(reads, bounds="0 to 8", guard=("", "")):
    loads = "\n".join(f"%v{k} = affine.load %A[{read}] : memref<40x10xf32>" for k, read in enumerate(reads))
    return f"""
    func.func @f(%A: memref<40x10xf32> {{allo.name = "A"}}) {{
      affine.for %i = {bounds} {{
        affine.for %j = 0 to 8 {{
          {guard[0]}
          {loads}
          {guard[1]}
        }} {{allo.name = "j"}}
      }} {{allo.name = "i"}}
      return
    }}"""


ROWS = stencil(["%i, %j", "%i + 2, %j + 1"])


def test_rows_and_columns(parse):
    rows, columns = ask(parse, ROWS, "i"), ask(parse, ROWS, "j")
    assert (rows.shift, sizes(rows), rows.reused, rows.moving) == ((1, 0), [3, 9], True, (0,))
    assert (columns.shift, sizes(columns), columns.reused) == ((0, 1), [3, 2], False)


@pytest.mark.parametrize(
    ("reads", "bounds", "shift", "size", "reused"),
    [
        (["2 * %i, %j", "2 * %i + 4, %j"], "0 to 8", 2, 5, True),
        (["2 * %i, %j", "2 * %i + 3, %j"], "0 to 8", 2, 4, False),  # even rows first, odd rows second
        (["-%i + 20, %j", "-%i + 22, %j"], "0 to 8", -1, 3, True),
        (["%i, %j", "%i + 3, %j"], "0 to 9 step 3", 3, 4, True),
        (["%i, %j", "%i + 2, %j"], "1 to 9 step 3", 3, 3, False),
    ],
)
def test_strides_and_steps(parse, reads, bounds, shift, size, reused):
    answer = ask(parse, stencil(reads, bounds), "i")
    assert (answer.shift[0], sizes(answer)[0], answer.reused) == (shift, size, reused)


def test_diagonal_moves_along_both_dimensions(parse):
    assert ask(parse, stencil(["%i, %i", "%i + 1, %i + 1"]), "i").moving == (0, 1)


def test_iterations_before_the_first_that_reads(parse):
    guard = ("affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) {", "}")
    text = stencil(["%i, %j", "%i + 2, %j"], "-1 to 8", guard)
    assert ask(parse, text, "i", first=-1).slack == 4
    assert ask(parse, text, "i", first=None).slack == 0


def test_untouched(parse):
    text = """
    func.func @f(%A: memref<4xf32> {allo.name = "A"}) {
      affine.for %i = 0 to 8 {
      } {allo.name = "i"}
      return
    }"""
    assert ask(parse, text, "i") is None


@pytest.mark.parametrize(
    ("read", "bounds", "answer"),
    [
        ("%i, %j", "0 to 40", ((False, False), (False, False))),
        ("%i - 1, %j + 3", "0 to 40", ((True, False), (False, True))),
        ("%i, %j", "-2 to 41", ((True, True), (False, False))),
    ],
)
def test_escapes(parse, read, bounds, answer):
    function = parse(stencil([read], bounds))
    model = extract(function.op)
    assert escapes(model, model.accesses[0].op) == answer


def test_escapes_respect_conditions(parse):
    guard = ("affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) {", "}")
    function = parse(stencil(["%i - 1, %j"], guard=guard))
    model = extract(function.op)
    assert escapes(model, model.accesses[0].op) == ((False, False), (False, False))


def test_model_of_one_nest(parse):
    text = ROWS.replace("return", 'affine.for %k = 0 to 4 {\n} {allo.name = "k"}\nreturn')
    function = parse(text)
    whole, part = extract(function.op), extract(function.op, function.loops["i"])
    assert [loop.name for loop in part.loops] == ["i", "j"] and len(whole.loops) == 3
    assert [(a.text, a.loop_names) for a in part.accesses] == [(a.text, a.loop_names) for a in whole.accesses]
    assert len(extract(function.op, function.loops["k"]).accesses) == 0
