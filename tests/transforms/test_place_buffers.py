"""`allo-place-buffers`: stack or heap, where a buffer begins and ends, and what is left alone."""

import numpy as np

from .compiled import Compiled, on_function, run_passes

LOOP = """
func.func @f(%A: memref<64xf32>) {{
  affine.for %i = 0 to 64 {{
    %b = memref.alloc() {{allo.name = "b"}} : memref<{buffer}>
    %a = affine.load %A[%i] : memref<64xf32>
    affine.store %a, %b[{subscript}] : memref<{buffer}>
    %c = affine.load %b[{subscript}] : memref<{buffer}>
    affine.store %c, %A[%i] : memref<64xf32>
  }} {{{attributes}}}
  return
}}"""


def placed(buffer: str, subscript: str = "", attributes: str = "", options: str = "") -> list[str]:
    text = LOOP.format(buffer=buffer, subscript=subscript, attributes=attributes)
    body = on_function(text, f"allo-place-buffers{options}")
    return [
        line
        for line in body.splitlines()
        if any(word in line for word in ("memref.alloc", "dealloc", "affine.for"))
    ]


def test_scalar_goes_to_the_stack() -> None:
    assert placed("f32") == [
        '%alloca = memref.alloca() {allo.name = "b"} : memref<f32>',
        "affine.for %arg1 = 0 to 64 {",
    ]


def test_small_array_goes_to_the_stack_aligned() -> None:
    assert placed("16xf32", "0") == [
        '%alloca = memref.alloca() {alignment = 64 : i64, allo.name = "b"} : memref<16xf32>',
        "affine.for %arg1 = 0 to 64 {",
    ]


def test_large_array_is_allocated_and_freed_once() -> None:
    assert placed("100000xf32", "%i") == [
        '%alloc = memref.alloc() {alignment = 64 : i64, allo.name = "b"} : memref<100000xf32>',
        "affine.for %arg1 = 0 to 64 {",
        "memref.dealloc %alloc : memref<100000xf32>",
    ]


def test_limit_is_an_option() -> None:
    assert "memref.alloc()" in placed("16xf32", "0", options="{max-stack-bytes=63}")[0]
    assert "memref.alloca()" in placed("16xf32", "0", options="{max-stack-bytes=64}")[0]


def test_sum_on_the_stack_is_limited() -> None:
    text = """
    func.func @f() {
      %a = memref.alloc() : memref<16xf32>
      %b = memref.alloc() : memref<16xf32>
      return
    }"""
    body = on_function(text, "allo-place-buffers{max-frame-bytes=100}")
    assert body.count("memref.alloca()") == 1
    assert body.count("memref.dealloc") == 1


def test_parallel_body_keeps_its_buffer() -> None:
    assert placed("16xf32", "0", "allo.parallel") == [
        "affine.for %arg1 = 0 to 64 {",
        '  %alloca = memref.alloca() {alignment = 64 : i64, allo.name = "b"} : memref<16xf32>',
    ]


def test_dynamic_shape_is_freed_in_its_block() -> None:
    text = """
    func.func @f(%n: index, %a: f32) {
      affine.for %i = 0 to 8 {
        %b = memref.alloc(%n) : memref<?xf32>
        affine.store %a, %b[0] : memref<?xf32>
      }
      return
    }"""
    assert (
        on_function(text, "allo-place-buffers")
        == """\
affine.for %arg2 = 0 to 8 {
  %alloc = memref.alloc(%arg0) {alignment = 64 : i64} : memref<?xf32>
  affine.store %arg1, %alloc[0] : memref<?xf32>
  memref.dealloc %alloc : memref<?xf32>
}"""
    )


def test_escaping_buffers_are_left_alone() -> None:
    text = """
    func.func private @pass(memref<4xf32>) -> memref<4xf32>
    func.func @f(%go: i1) -> (memref<4xf32>, memref<?xf32>) {
      %a = memref.alloc() : memref<4xf32>
      %b = memref.alloc() : memref<8xf32>
      %v = memref.cast %b : memref<8xf32> to memref<?xf32>
      return %a, %v : memref<4xf32>, memref<?xf32>
    }
    func.func @g() -> memref<4xf32> {
      %a = memref.alloc() : memref<4xf32>
      %r = call @pass(%a) : (memref<4xf32>) -> memref<4xf32>
      return %r : memref<4xf32>
    }"""
    body = str(run_passes(text, "func.func(allo-place-buffers)"))
    assert body.count("memref.alloc()") == 3
    assert "dealloc" not in body


def test_compiled_values() -> None:
    for buffer, subscript in (("f32", ""), ("16xf32", "3"), ("100000xf32", "%i + 5")):
        data = np.arange(64, dtype=np.float32)
        Compiled(
            LOOP.format(buffer=buffer, subscript=subscript, attributes=""), "func.func(allo-place-buffers)"
        )(data)
        assert np.array_equal(data, np.arange(64, dtype=np.float32))
