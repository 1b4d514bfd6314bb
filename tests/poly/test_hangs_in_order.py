"""What processes that wait for others, and streams outside of their arrays, mean to `hang_of`."""

from allo.ir.hang import Hang
from allo.ir.module import Module
from allo.poly import Untold, hang_of

# A value that is read in between lets all behind it wait for the process that makes it.
WAITING = """module attributes {allo.top = "f"} {
func.func @f(%A: memref<8xi32>, %B: memref<8xi32>) attributes {allo.dataflow} {
  %s = allo.stream_create {allo.name = "pipe"} : !allo.stream<i32, 4>
  %T = memref.alloc() : memref<1xi32>
  affine.for %i = 0 to 8 {
    %v = affine.load %A[%i] : memref<8xi32>
    allo.stream_put %s, %v : !allo.stream<i32, 4>
    affine.store %v, %T[0] : memref<1xi32>
  }
  %last = affine.load %T[0] : memref<1xi32>
  affine.for %i = 0 to 8 {
    %v = allo.stream_get %s : !allo.stream<i32, 4>
    %w = arith.addi %v, %last : i32
    affine.store %w, %B[%i] : memref<8xi32>
  }
  return
}
}"""


def test_a_value_between_processes_is_waited_for():
    module = Module.parse(WAITING)
    for balanced in (False, True):
        hang = hang_of(module, balanced=balanced)
        assert isinstance(hang, Hang) and hang.full is not None
        assert (hang.full.stream.name, hang.full.puts, hang.full.gets) == ("pipe", 4, 0)
    assert hang_of(Module.parse(WAITING.replace(", 4>", ", 8>"))) is None


def test_a_value_that_no_process_makes_is_not_waited_for():
    module = Module.parse(WAITING.replace("affine.load %T[0] : memref<1xi32>", "affine.load %A[0] : memref<8xi32>"))
    assert hang_of(module) is None and hang_of(module, balanced=True) is None


def test_streams_outside_of_their_array_are_not_told():
    """The least number would be that of the last stream in Python."""
    for place in (-1, 2):
        module = Module.parse(f"""module attributes {{allo.top = "f"}} {{ func.func @f() {{
          %zero = arith.constant 0 : i32
          %k = arith.constant {place} : index
          %S = memref.alloc() : memref<2x!allo.stream<i32, 4>>
          %s = memref.load %S[%k] : memref<2x!allo.stream<i32, 4>>
          allo.stream_put %s, %zero : !allo.stream<i32, 4>
          return }} }}""")
        hang = hang_of(module)
        assert isinstance(hang, Untold) and hang.reason == "it uses a stream outside of an array of streams"


def test_two_processes_at_one_end_are_not_told():
    put = """affine.for %i = 0 to 8 {
    %v = affine.load %A[%i] : memref<8xi32>
    allo.stream_put %s, %v : !allo.stream<i32, 4>
  }
  """
    text = WAITING.replace("affine.store %v, %T[0] : memref<1xi32>\n", "")
    text = text.replace("affine.for %i", put + "affine.for %i", 1)
    untold = hang_of(Module.parse(text))
    assert isinstance(untold, Untold)
    assert untold.reason == "two processes wait at one end of a stream, in no order"
