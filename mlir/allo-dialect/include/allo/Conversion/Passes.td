#ifndef ALLO_CONVERSION_PASSES_TD
#define ALLO_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerTypes : Pass<"allo-lower-types", "::mlir::ModuleOp"> {
  let summary = "types of kernels -> types of the upstream lowerings";
  let description = [{
    Arrays lose their partition and keep their elements in containers of 8, 16,
    32, 64, ... bits, as NumPy lays them out; scalars in signatures are
    containers too; fixed-point numbers, structs and integers with a sign become
    signless integers, and the operations of the `allo` dialect on them become
    operations of `arith`. A stream becomes a handle of the run-time library
    (`lib/Runtime/Streams.cpp`); an allocated array of streams gets a FIFO for
    each element. Streams of blocks are refused.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
}

def LowerNumbers : Pass<"allo-lower-numbers", "::mlir::ModuleOp"> {
  let summary = "fixed-point numbers and structs -> integers of their widths";
  let description = [{
    For hardware: arrays keep partition and widths, streams stay streams, and
    operations on bits stay as they are; fixed-point numbers, structs and
    integers with a sign become signless integers, as `allo-lower-types` makes
    them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CallElementary : Pass<"allo-call-elementary", "::mlir::ModuleOp"> {
  let summary = "`allo.elementary` -> calls, one for each element of a vector";
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::vector::VectorDialect"];
}

#endif
