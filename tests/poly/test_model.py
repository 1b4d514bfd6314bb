"""What `extract` makes of a function: domains, access maps, schedules, and how sure it is of them."""

from __future__ import annotations

from allo.poly import extract

GEMM = """
func.func @gemm(%A: memref<8x8xf32> {allo.name = "A"}, %B: memref<8x8xf32> {allo.name = "B"},
                %C: memref<8x8xf32> {allo.name = "C"}) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      affine.for %k = 0 to 8 {
        %a = affine.load %A[%i, %k] : memref<8x8xf32>
        %b = affine.load %B[%k, %j] : memref<8x8xf32>
        %c = affine.load %C[%i, %j] : memref<8x8xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%i, %j] : memref<8x8xf32> loc("gemm.py":7:13)
      } {allo.name = "k"}
    } {allo.name = "j"}
  } {allo.name = "i"}
  return
}
"""


def test_gemm(parse):
    function = parse(GEMM)
    model = extract(function.op)
    assert [(a.id, str(a.kind), a.text) for a in model.accesses] == [
        ("A0", "read", "A[i, k]"),
        ("A1", "read", "B[k, j]"),
        ("A2", "read", "C[i, j]"),
        ("A3", "write", "C[i, j]"),
    ]
    store = model.accesses[3]
    assert str(store.domain) == "{ A3[i, j, k] : 0 <= i <= 7 and 0 <= j <= 7 and 0 <= k <= 7 }"
    assert str(store.map) == "{ A3[i, j, k] -> C[e0 = i, e1 = j] }"
    schedule = "{ A3[i, j, k] -> [t0 = 0, t1 = i, t2 = 0, t3 = j, t4 = 0, t5 = k, t6 = 3] }"
    assert str(store.schedule(model.depth)) == schedule
    assert (store.source.file, store.source.line, store.source.column) == ("gemm.py", 7, 13)
    assert all(access.exact for access in model.accesses)
    assert model.buffer(function.values["C"]) == store.buffer


def one(parse, body, arguments="%A: memref<16xf32>", name="A"):
    """The accesses of a function with the given body."""
    text = f"func.func @f({arguments}) {{\n%c = arith.constant 0.0 : f32\n{body}\nreturn\n}}"
    function = parse(text)
    return function, extract(function.op).accesses


STORE = "affine.store %c, %A[%i] : memref<16xf32>"


def test_triangular_bounds_are_extrema(parse):
    _, (access,) = one(
        parse,
        "affine.for %i = 0 to 8 { affine.for %j = max affine_map<(d0) -> (2, d0 - 1)>(%i) to "
        f"min affine_map<(d0) -> (d0 + 3, 9)>(%i) {{ {STORE} }} {{allo.name = \"j\"}} }} {{allo.name = \"i\"}}",
    )
    assert str(access.domain) == "{ A0[i, j] : i <= 7 and j >= -1 + i and 2 <= j <= 8 and j <= 2 + i }"


def test_step_counts_from_the_lower_bound(parse):
    _, (access,) = one(parse, f'affine.for %i = 1 to 12 step 3 {{ {STORE} }} {{allo.name = "i"}}')
    assert str(access.domain) == "{ A0[i] : (-1 + i) mod 3 = 0 and 0 < i <= 11 }"


def test_divisions_in_subscripts(parse):
    _, accesses = one(
        parse,
        """affine.for %i = 0 to 16 {
          affine.store %c, %A[%i floordiv 4] : memref<16xf32>
          affine.store %c, %A[%i mod 4] : memref<16xf32>
          affine.store %c, %A[%i ceildiv 4] : memref<16xf32>
        } {allo.name = "i"}""",
    )
    assert [access.text for access in accesses] == ["arg0[i // 4]", "arg0[i % 4]", "arg0[-((-i) // 4)]"]
    points = [str(access.map.intersect_domain(access.domain).range().coalesce()) for access in accesses]
    assert points == [
        "{ arg0[e0] : 0 <= e0 <= 3 }",
        "{ arg0[e0] : 0 <= e0 <= 3 }",
        "{ arg0[e0] : 0 <= e0 <= 4 }",
    ]


def test_conditions_narrow_both_branches(parse):
    _, (then, otherwise) = one(
        parse,
        """affine.for %i = 0 to 10 {
          affine.if affine_set<(d0) : (d0 - 3 >= 0, d0 mod 2 == 0)>(%i) {
            affine.store %c, %A[%i] : memref<16xf32>
          } else {
            affine.store %c, %A[0] : memref<16xf32>
          }
        } {allo.name = "i"}""",
    )
    assert str(then.domain) == "{ A0[i] : (i) mod 2 = 0 and 3 <= i <= 9 }"
    assert [k for k in range(10) if not otherwise.domain.is_disjoint(otherwise.domain.fix_val(3, 0, k))] == [
        0,
        1,
        2,
        3,
        5,
        7,
        9,
    ]
    assert then.exact and otherwise.exact


def test_sizes_are_parameters(parse):
    _, (access,) = one(
        parse,
        'affine.for %i = 0 to %n { affine.store %c, %A[%i + symbol(%n)] : memref<16xf32> } {allo.name = "i"}',
        "%A: memref<16xf32>, %n: index",
    )
    assert str(access.domain) == "[p0] -> { A0[i] : 0 <= i < p0 }"
    assert str(access.map) == "[p0] -> { A0[i] -> arg0[e0 = p0 + i] }"


def test_buffer_in_a_loop_is_fresh(parse):
    _, (access,) = one(
        parse,
        """affine.for %i = 0 to 4 {
          %x = memref.alloc() {allo.name = "x"} : memref<f32>
          affine.store %c, %x[] : memref<f32>
        } {allo.name = "i"}""",
    )
    assert str(access.map) == "{ A0[i] -> x[e0 = i] }"
    assert access.text == "x"


def test_index_arithmetic_is_seen_through(parse):
    _, (access,) = one(
        parse,
        """%two = arith.constant 2 : index
        %lb = arith.constant 1 : index
        %ub = arith.constant 5 : index
        scf.for %i = %lb to %ub step %two {
          %d = arith.muli %i, %two : index
          %e = arith.subi %d, %lb : index
          memref.store %c, %A[%e] : memref<16xf32>
        } {allo.name = "i"}""",
    )
    assert access.exact and access.text == "arg0[2*i - 1]"
    assert str(access.domain) == "{ A0[i] : (1 + i) mod 2 = 0 and 0 < i <= 4 }"


def test_subscript_from_memory_is_any_element(parse):
    _, (_, access) = one(
        parse,
        """affine.for %i = 0 to 4 {
          %x = affine.load %I[%i] : memref<4xindex>
          memref.store %c, %A[%x] : memref<16xf32>
        } {allo.name = "i"}""",
        "%A: memref<16xf32>, %I: memref<4xindex>",
    )
    assert not access.exact and access.reason == "has a subscript that is not affine"
    assert access.text == "arg0[?]"
    assert str(access.map) == "{ A1[i] -> arg0[e0] : 0 <= e0 <= 15 }"


def test_while_and_unknown_conditions_may_run(parse):
    _, accesses = one(
        parse,
        """scf.while : () -> () {
          %v = affine.load %A[0] : memref<16xf32>
          %q = arith.cmpf olt, %v, %c : f32
          scf.condition(%q)
        } do {
          affine.store %c, %A[0] : memref<16xf32>
          scf.yield
        } attributes {allo.name = "w"}
        scf.if %b { affine.store %c, %A[1] : memref<16xf32> }""",
        "%A: memref<16xf32>, %b: i1",
    )
    assert [access.reason for access in accesses] == [
        "inside a `while` loop",
        "inside a `while` loop",
        "under a condition that is not affine",
    ]
    assert [access.loop_names for access in accesses] == [("w",), ("w",), ()]
    assert accesses[0].path < accesses[1].path


def test_copy_and_fill_touch_all(parse):
    _, accesses = one(
        parse,
        "memref.copy %A, %B : memref<16xf32> to memref<16xf32>\n"
        "linalg.fill ins(%c : f32) outs(%A : memref<16xf32>)",
        "%A: memref<16xf32>, %B: memref<16xf32>",
    )
    assert [(str(a.kind), a.buffer.name, a.exact) for a in accesses] == [
        ("read", "arg0", True),
        ("write", "arg1", True),
        ("write", "arg0", True),
    ]
    assert str(accesses[2].map) == "{ A2[] -> arg0[e0] : 0 <= e0 <= 15 }"


def test_subview_is_its_source(parse):
    _, (access,) = one(
        parse,
        """affine.for %i = 0 to 4 {
          %v = memref.subview %A[%i, 2] [1, 6] [1, 2] : memref<8x16xf32>
               to memref<6xf32, strided<[2], offset: ?>>
          affine.store %c, %v[%i + 1] : memref<6xf32, strided<[2], offset: ?>>
        } {allo.name = "i"}""",
        "%A: memref<8x16xf32>",
    )
    assert access.exact and access.text == "arg0[i, 2*i + 4]"


CALLS = """
memref.global "private" @state : memref<4xf32> = uninitialized
func.func private @external(memref<4xf32>)
func.func @reader(%X: memref<4xf32>, %Y: memref<4xf32>) {
  %x = affine.load %X[0] : memref<4xf32>
  call @writer(%Y, %x) : (memref<4xf32>, f32) -> ()
  return
}
func.func @writer(%Y: memref<4xf32>, %x: f32) {
  %g = memref.get_global @state : memref<4xf32>
  affine.store %x, %g[0] : memref<4xf32>
  affine.store %x, %Y[0] : memref<4xf32>
  return
}
func.func @same(%Y: memref<4xf32>) -> memref<4xf32> {
  return %Y : memref<4xf32>
}
func.func @top(%A: memref<4xf32> {allo.name = "A"}, %B: memref<4xf32> {allo.name = "B"}) {
  call @reader(%A, %B) : (memref<4xf32>, memref<4xf32>) -> ()
  call @external(%B) : (memref<4xf32>) -> ()
  %g = memref.get_global @state : memref<4xf32>
  %v = affine.load %g[0] : memref<4xf32>
  %C = call @same(%A) : (memref<4xf32>) -> memref<4xf32>
  affine.store %v, %C[1] : memref<4xf32>
  return
}
"""


def test_calls_are_summarised(parse):
    function = parse(CALLS, "top")
    accesses = extract(function.op).accesses
    assert [(str(a.kind), a.buffer.name, a.exact) for a in accesses] == [
        ("read", "A", False),
        ("write", "state", False),
        ("write", "B", False),
        ("read", "B", False),
        ("write", "B", False),
        ("read", "state", True),
        ("write", "A", False),
    ]
    assert accesses[0].reason == "is passed to 'reader', which may use any element"


def test_streams_keep_their_order(parse):
    _, accesses = one(
        parse,
        """%p = allo.stream_create {allo.name = "p"} : !allo.stream<f32, 4>
        affine.for %i = 0 to 4 {
          %s = affine.load %S[%i] : memref<4x!allo.stream<f32, 4>>
          allo.stream_put %s, %c : !allo.stream<f32, 4>
          allo.stream_put %p, %c : !allo.stream<f32, 4>
        } {allo.name = "i"}""",
        "%S: memref<4x!allo.stream<f32, 4>>",
    )
    assert [(str(a.kind), a.text, a.exact) for a in accesses] == [
        ("write", "arg0[i]", True),
        ("write", "p", True),
    ]


def test_the_map_of_many_dimensions(parse):
    _, (access,) = one(
        parse,
        "affine.for %i = 0 to 4 { affine.for %j = 0 to 4 { "
        "affine.store %c, %A[%j, %i + %j, %n, 3 * %i - 1] : memref<4x8x9x16xf32> "
        '} {allo.name = "j"} } {allo.name = "i"}',
        '%A: memref<4x8x9x16xf32> {allo.name = "A"}, %n: index {allo.name = "n"}',
    )
    assert str(access.map).replace("[n] -> ", "") == (
        "{ A0[i, j] -> A[e0 = j, e1 = i + j, e2 = n, e3 = -1 + 3i] }"
    )


def test_a_loop_whose_step_is_known_at_run_time(parse):
    function, (access,) = one(
        parse,
        "%z = arith.constant 0 : index\n%e = arith.constant 9 : index\n"
        "scf.for %i = %z to %e step %n { memref.store %c, %A[%i] : memref<16xf32> } {allo.name = \"i\"}",
        '%A: memref<16xf32> {allo.name = "A"}, %n: index {allo.name = "n"}',
    )
    assert not access.exact and access.reason == "inside a loop whose step is not constant"
    (loop,) = extract(function.op).loops
    assert (loop.name, loop.exact) == ("i", False)
    assert str(access.domain).replace("[n] -> ", "") == "{ A0[i] : 0 <= i <= 8 }"


def test_a_loop_with_a_constant_step(parse):
    function, (access,) = one(
        parse,
        "%z = arith.constant 1 : index\n%e = arith.constant 9 : index\n%s = arith.constant 3 : index\n"
        "scf.for %i = %z to %e step %s { memref.store %c, %A[%i] : memref<16xf32> } {allo.name = \"i\"}",
    )
    assert access.exact
    (loop,) = extract(function.op).loops
    assert loop.exact
    points = []
    access.domain.foreach_point(lambda point: points.append(str(point)))
    assert sorted(points) == ["{ A0[1] }", "{ A0[4] }", "{ A0[7] }"]


def test_part_of_a_function(parse):
    """One nest: the same accesses, and of the arrays only those that it uses, with their origins."""
    function = parse(
        """
func.func @parts(%unused: memref<4xi32> {allo.name = "unused"}, %A: memref<4xi32> {allo.name = "A"}) {
  %other = memref.alloc() {allo.name = "other"} : memref<4xi32>
  %T = memref.alloc() {allo.name = "T"} : memref<4xi32>
  affine.for %i = 0 to 4 {
    %a = affine.load %A[%i] : memref<4xi32>
    affine.store %a, %T[%i] : memref<4xi32>
  } {allo.name = "i"}
  affine.for %j = 0 to 4 {
    %t = affine.load %T[%j] : memref<4xi32>
    affine.store %t, %other[%j] : memref<4xi32>
  } {allo.name = "j"}
  return
}
"""
    )
    whole = extract(function.op)
    nest = whole.loops[0].op
    part = extract(function.op, nest)
    assert [buffer.label for buffer in whole.buffers] == ["unused", "A", "other", "T"]
    assert part.buffers == tuple(whole.accesses[n].buffer for n in (0, 1))
    assert [(a.text, a.buffer.origin) for a in part.accesses] == [("A[i]", "argument"), ("T[i]", "alloc")]
