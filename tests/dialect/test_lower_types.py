"""`allo-lower-types`: containers in memory and in signatures, structs, bits, partitions, and what it refuses."""

import numpy as np
import pytest
from mlir import ir
from mlir.passmanager import PassManager

from .compiled import Compiled, elementwise
from .reference import Format, expected

SIZE = 64


def lowered(text: str, passes: str = "allo-lower-types") -> str:
    module = ir.Module.parse(text)
    PassManager.parse(f"builtin.module({passes})").run(module.operation)
    return str(module)


def test_no_trace_of_partition(context: ir.Context) -> None:
    text = """
    func.func private @callee(memref<8x8xf32, #allo.partition<[cyclic 4, none]>>)
    func.func @f(%a: memref<8x8xf32, #allo.partition<[cyclic 4, none]>>) {
      %b = memref.alloc() : memref<4xf32, #allo.partition<[complete]>>
      %c = memref.cast %b : memref<4xf32, #allo.partition<[complete]>> to memref<4xf32>
      %s = memref.subview %a[0, 0] [4, 8] [1, 1]
          : memref<8x8xf32, #allo.partition<[cyclic 4, none]>> to memref<4x8xf32, strided<[8, 1]>>
      call @callee(%a) : (memref<8x8xf32, #allo.partition<[cyclic 4, none]>>) -> ()
      return
    }"""
    assert "partition" not in lowered(text)


def test_plain_module_is_unchanged(context: ir.Context) -> None:
    text = elementwise("f32", "f32", "%r = arith.addf %x, %x : f32", 4)
    assert lowered(text) == str(ir.Module.parse(text))


def test_signature_and_access(context: ir.Context) -> None:
    text = """
    func.func @f(%a: memref<4xi7>, %x: ui3, %b: i1, %n: index) -> si1 {
      %v = memref.load %a[%n] : memref<4xi7>
      memref.store %v, %a[%n] : memref<4xi7>
      %s = allo.sign_cast %b : i1 to si1
      return %s : si1
    }"""
    assert lowered(text) == """module {
  func.func @f(%arg0: memref<4xi8>, %arg1: i8, %arg2: i8, %arg3: index) -> i8 {
    %0 = arith.trunci %arg1 : i8 to i3
    %1 = arith.trunci %arg2 : i8 to i1
    %2 = memref.load %arg0[%arg3] : memref<4xi8>
    %3 = arith.trunci %2 : i8 to i7
    %4 = arith.extsi %3 : i7 to i8
    memref.store %4, %arg0[%arg3] : memref<4xi8>
    %5 = arith.extsi %1 : i1 to i8
    return %5 : i8
  }
}
"""


def test_locations_are_kept(context: ir.Context) -> None:
    module = ir.Module.parse("""
    func.func @f(%a: memref<4x!allo.fixed<7, 4>>) {
      %x = affine.load %a[0] : memref<4x!allo.fixed<7, 4>> loc("k.py":3:5)
      %y = allo.fixed_mul %x, %x : !allo.fixed<7, 4>, !allo.fixed<7, 4> loc("k.py":4:5)
      %z = allo.fixed_cast %y : !allo.fixed<14, 8> to !allo.fixed<7, 4> loc("k.py":5:5)
      affine.store %z, %a[1] : memref<4x!allo.fixed<7, 4>> loc("k.py":6:5)
      return
    }""")
    PassManager.parse("builtin.module(allo-lower-types)").run(module.operation)
    body = module.body.operations[0].regions[0].blocks[0].operations
    assert {op.location.start_line for op in list(body)[:-1]} == {3, 4, 5, 6}


INTEGERS = {
    "ui8": Format(False, 8),
    "i8": Format(True, 8),
    "i7": Format(True, 7),
    "ui7": Format(False, 7),
    "si1": Format(True, 1),
    "i1": Format(False, 1),
    "i33": Format(True, 33),
    "ui50": Format(False, 50),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_addition_wraps(context: ir.Context, name: str) -> None:
    fmt = INTEGERS[name]
    signless = f"i{fmt.width}"
    into, out = f"allo.sign_cast %x : {name} to {signless}", f"allo.sign_cast %s : {signless} to {name}"
    body = f"%v = {into}\n %s = arith.addi %v, %v : {signless}\n %r = {out}"
    x, result = fmt.samples(SIZE, 1), np.zeros(SIZE, fmt.container)
    Compiled(elementwise(name, name, body, SIZE))(x, result)
    assert np.array_equal(result, expected(lambda a: fmt.wrap(2 * a), fmt, x))


@pytest.mark.parametrize("name", INTEGERS)
def test_globals(context: ir.Context, name: str) -> None:
    fmt = INTEGERS[name]
    values = fmt.samples(16, 1)
    text = ", ".join(str(v != 0).lower() if name == "i1" else str(v) for v in values)
    result = np.zeros(16, fmt.container)
    Compiled(f"""
    memref.global "private" constant @table : memref<16x{name}> = dense<[{text}]>
    func.func @f(%c: memref<16x{name}>) {{
      %g = memref.get_global @table : memref<16x{name}>
      affine.for %i = 0 to 16 {{
        %v = affine.load %g[%i] : memref<16x{name}>
        affine.store %v, %c[%i] : memref<16x{name}>
      }}
      return
    }}""")(result)
    assert np.array_equal(result, values)


def test_fixed_globals(context: ir.Context) -> None:
    result = np.zeros(4, np.int8)
    Compiled("""
    memref.global "private" constant @table : memref<4xi7> = dense<[-64, 63, 0, -1]>
    func.func @f(%c: memref<4x!allo.fixed<7, 4>>) {
      %g = memref.get_global @table : memref<4xi7>
      %q = allo.element_cast %g : memref<4xi7> to memref<4x!allo.fixed<7, 4>>
      affine.for %i = 0 to 4 {
        %v = affine.load %q[%i] : memref<4x!allo.fixed<7, 4>>
        affine.store %v, %c[%i] : memref<4x!allo.fixed<7, 4>>
      }
      return
    }""")(result)
    assert result.tolist() == [-64, 63, 0, -1]


def test_calls(context: ir.Context) -> None:
    x, result = np.arange(-32, 32, dtype=np.int8), np.zeros(64, np.uint16)
    body = """%s = allo.fixed_cast %x : i6 to !allo.fixed<6, 0>
        %q, %b = func.call @g(%s) : (!allo.fixed<6, 0>) -> (!allo.ufixed<11, 2>, i1)
        %z = allo.fixed_constant 1023 : !allo.ufixed<11, 2>
        %r = arith.select %b, %z, %q : !allo.ufixed<11, 2>"""
    Compiled(elementwise("i6", "!allo.ufixed<11, 2>", body, 64) + """
    func.func @g(%x: !allo.fixed<6, 0>) -> (!allo.ufixed<11, 2>, i1) {
      %q = allo.fixed_cast %x : !allo.fixed<6, 0> to !allo.ufixed<11, 2>
      %zero = allo.fixed_constant 0 : !allo.fixed<6, 0>
      %b = allo.fixed_cmp lt, %x, %zero : !allo.fixed<6, 0>
      return %q, %b : !allo.ufixed<11, 2>, i1
    }""")(x, result)
    assert result.tolist() == [1023 if v < 0 else 4 * v for v in x.tolist()]


def test_loop_carried_and_branches(context: ir.Context) -> None:
    """A running sum in `iter_args`, capped by an `scf.if`, stored by an `scf.while`."""
    q = "!allo.ufixed<9, 3>"
    x, result = np.arange(1, 17, dtype=np.uint16), np.zeros(1, np.uint16)
    Compiled(f"""
    func.func @f(%a: memref<16x{q}>, %c: memref<1x{q}>) {{
      %zero = allo.fixed_constant 0 : {q}
      %cap = allo.fixed_constant 100 : {q}
      %sum = affine.for %i = 0 to 16 iter_args(%s = %zero) -> ({q}) {{
        %v = affine.load %a[%i] : memref<16x{q}>
        %t = allo.fixed_add %s, %v : {q}
        %big = allo.fixed_cmp gt, %t, %cap : {q}
        %u = scf.if %big -> ({q}) {{ scf.yield %cap : {q} }} else {{ scf.yield %t : {q} }}
        affine.yield %u : {q}
      }}
      %last = scf.while (%w = %sum) : ({q}) -> {q} {{
        %more = allo.fixed_cmp gt, %w, %zero : {q}
        scf.condition(%more) %w : {q}
      }} do {{
      ^bb0(%w: {q}):
        %one = allo.fixed_constant 7 : {q}
        %small = allo.fixed_cmp le, %w, %one : {q}
        %n = allo.fixed_sub %w, %one : {q}
        %m = arith.select %small, %zero, %n : {q}
        affine.store %w, %c[0] : memref<1x{q}>
        scf.yield %m : {q}
      }}
      return
    }}""")(x, result)
    assert result.tolist() == [100 % 7]


STRUCT = "!allo.struct<{a: i5, b: !allo.fixed<8, 4>, c: f32, d: i1}>"


def test_structs(context: ir.Context) -> None:
    """Fields lie from the low bits on: 5 + 8 + 32 + 1 bits in a container of 64."""
    x, result = np.arange(SIZE, dtype=np.int32), np.zeros(SIZE, np.uint64)
    made = f"""%va = arith.trunci %x : i32 to i5
        %vb = allo.fixed_cast %x : i32 to !allo.fixed<8, 4>
        %vc = arith.sitofp %x : i32 to f32
        %vd = arith.trunci %x : i32 to i1
        %r = allo.struct_construct %va, %vb, %vc, %vd : {STRUCT}"""
    Compiled(elementwise("i32", STRUCT, made, SIZE))(x, result)
    single = x.astype(np.float32).view(np.uint32).tolist()
    assert result.tolist() == [
        (v & 31) | ((v * 16 & 255) << 5) | (single[v] << 13) | ((v & 1) << 45) for v in range(SIZE)
    ]

    back = np.zeros(SIZE, np.float32)
    Compiled(elementwise(STRUCT, "f32", f'%r = allo.struct_get %x["c"] : {STRUCT}', SIZE))(result, back)
    assert np.array_equal(back, x)
    back = np.zeros(SIZE, np.int8)
    Compiled(elementwise(STRUCT, "i5", f'%r = allo.struct_get %x["a"] : {STRUCT}', SIZE))(result, back)
    assert back.tolist() == [Format(True, 5).wrap(v) for v in range(SIZE)]


@pytest.mark.parametrize("width", [1, 3, 8, 13, 32])
def test_bits(context: ir.Context, width: int) -> None:
    fmt = Format(False, width)
    number, size = f"ui{width}", fmt.container.itemsize * 8
    x = fmt.samples(SIZE, 1)
    y = (np.arange(SIZE) % width).astype(fmt.container)
    start = f"""%n = allo.sign_cast %x : {number} to i{width}
        %ys = allo.sign_cast %y : ui{size} to i{size}
        %p = arith.index_castui %ys : i{size} to index
        """
    for body, function in {
        f"%r = allo.get_bit %n[%p] : i{width} -> i1": lambda a, i: a >> i & 1,
        f"%t = arith.constant true\n %r = allo.set_bit %n[%p], %t : i{width}": lambda a, i: a | 1 << i,
        f"%t = arith.constant false\n %r = allo.set_bit %n[%p], %t : i{width}": lambda a, i: a & ~(1 << i),
        f"%r = allo.reverse_bits %n : i{width}": lambda a, i: int(f"{a:0{width}b}"[::-1], 2),
    }.items():
        target = "i1" if "-> i1" in body else f"i{width}"
        container = np.uint8 if target == "i1" else fmt.container
        result = np.zeros(SIZE, container)
        signless = elementwise(number, target, start + body, SIZE, f"ui{size}")
        Compiled(signless)(x, y, result)
        wanted = [function(a, i) for a, i in zip(x.tolist(), y.tolist(), strict=True)]
        mask = (1 << width) - 1
        assert [v & mask for v in result.tolist()] == wanted, body


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize(("hi", "lo"), [(8, 0), (5, 2), (8, 7), (13, 3), (1, 0)])
def test_slices(context: ir.Context, hi: int, lo: int, constant: bool) -> None:
    """x[lo:hi], with bounds that are known or not."""
    x = Format(False, 13).samples(SIZE, 1)
    bounds = f"""%hi = arith.constant {hi} : index
        %lo = arith.constant {lo} : index
        %n = allo.sign_cast %x : ui13 to i13
        """
    if not constant:
        bounds = bounds.replace("%hi =", "%h0 =").replace("%lo =", "%l0 =") + """%z = arith.muli %i, %i : index
            %z0 = arith.minui %z, %l0 : index
            %lo = arith.maxui %z0, %l0 : index
            %z1 = arith.minui %z, %h0 : index
            %hi = arith.maxui %z1, %h0 : index
            """
    result = np.zeros(SIZE, np.uint16)
    get = "%s = allo.get_slice %n[%hi, %lo] : i13 -> i13\n %r = allo.sign_cast %s : i13 to ui13"
    Compiled(elementwise("ui13", "ui13", bounds + get, SIZE))(x, result)
    assert result.tolist() == [v >> lo & (1 << hi - lo) - 1 for v in x.tolist()]

    put = """%v = arith.index_castui %i : index to i13
        %s = allo.set_slice %n[%hi, %lo], %v : i13, i13
        %r = allo.sign_cast %s : i13 to ui13"""
    Compiled(elementwise("ui13", "ui13", bounds + put, SIZE))(x, result)
    mask = (1 << hi - lo) - 1
    assert result.tolist() == [v & ~(mask << lo) | (i & mask) << lo for i, v in enumerate(x.tolist())]


def test_bitcast(context: ir.Context) -> None:
    x, result = np.linspace(-3, 3, SIZE, dtype=np.float32), np.zeros(SIZE, np.int32)
    body = "%q = allo.bitcast %x : f32 to !allo.fixed<32, 8>\n %r = allo.bitcast %q : !allo.fixed<32, 8> to i32"
    Compiled(elementwise("f32", "i32", body, SIZE))(x, result)
    assert np.array_equal(result, x.view(np.int32))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func.func @f() { %s = allo.stream_create : !allo.stream<tensor<4xf32>, 2> loc(\"k.py\":3:5)\n return }",
            "streams of blocks are not supported by this lowering; put and get their elements one by one",
        ),
        (
            "func.func @f(%n: index) { %s = memref.alloc(%n) : memref<?x!allo.stream<f32, 2>>\n return }",
            "an array of streams needs constant extents",
        ),
        (
            "func.func @f(%a: memref<4xi7>, %x: i7) {"
            " linalg.fill ins(%x : i7) outs(%a : memref<4xi7>) return }",
            "must become loops before allo-lower-types, for the sake of 'memref<4xi7>', "
            "whose elements have other containers than values",
        ),
    ],
)
def test_refusals(context: ir.Context, text: str, message: str) -> None:
    with pytest.raises(ir.MLIRError) as error:
        lowered(text)
    assert [d.message for d in error.value.error_diagnostics][-1].endswith(message)
