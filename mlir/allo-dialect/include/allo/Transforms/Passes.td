#ifndef ALLO_TRANSFORMS_PASSES_TD
#define ALLO_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CpuLocality : Pass<"allo-cpu-locality", "::mlir::func::FuncOp"> {
  let summary = "distribute, interchange and jam unscheduled affine nests for the caches and registers of a CPU";
  let description = [{
    Works on nests that the user left unscheduled. Every element of every buffer sees its reads and writes in the
    order of the program, so the results are the same bit for bit. A nest is left alone when a schedule has made its
    loops (`allo.scheduled`) or annotated one of them (`allo.unroll`, `allo.parallel`, `allo.pipeline`), or when its
    body holds anything but affine accesses and side-effect-free scalar operations.
    A scalar variable of a loop body is first replaced by its value, or by an array with one element an iteration.
  }];
  let options = [
    Option<"jam", "jam", "unsigned", "4", "unroll-and-jam factor of the loops around the innermost ones (1 = never)">,
    Option<"outerJam", "outer-jam", "unsigned", "4", "the same for the loops around those">,
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"];
}

def UnrollAnnotated : Pass<"allo-unroll-annotated", "::mlir::func::FuncOp"> {
  let summary = "unroll the affine loops that carry `allo.unroll`, innermost first";
  let description = [{
    `allo.unroll = f` unrolls by `f` (with a clean-up loop when `f` does not divide the trip count), 0 unrolls fully.
    The attribute is consumed. A loop whose copies would have more operations than `max-operations` stays rolled, with a
    remark; so does a loop whose trip count is not constant when it is to be unrolled fully, and any `scf.for`.
  }];
  let options = [
    Option<"maxOperations", "max-operations", "uint64_t", "16384",
           "largest number of operations that a loop becomes">,
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect"];
}

def Vectorize : Pass<"allo-vectorize", "::mlir::func::FuncOp"> {
  let summary = "turn short innermost loops over neighbouring elements into vector operations";
  let description = [{
    An innermost loop whose trip count, or whose `allo.unroll` factor if that divides it and is at least eight, is a
    multiple of four and makes vectors of at most `max-bits` bits, becomes operations on such vectors if no dependence
    is carried by it, its variable occurs in subscripts only, and each access is to one element or to neighbours in the
    last dimension. A small local buffer that is touched by such operations only is kept in vector registers by the
    back end. The order of the operations on each element stays.
  }];
  let options = [
    Option<"maxBits", "max-bits", "uint64_t", "1024", "longest vector">,
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::vector::VectorDialect"];
}

def PlaceBuffers : Pass<"allo-place-buffers", "::mlir::func::FuncOp"> {
  let summary = "put each `memref.alloc` on the stack or free it, outside of the loops";
  let description = [{
    The scope of a buffer is the body of the outermost enclosing `allo.parallel` loop, else the function. A buffer of
    static shape of at most `max-stack-bytes` becomes a `memref.alloca` at the head of its scope, as long as the
    scope's stack buffers stay below `max-frame-bytes`; a larger one is allocated (64-byte aligned) at the head of the
    scope and freed at its end. A buffer of dynamic shape is freed at the end of its block. Buffers that escape (are
    returned, yielded or stored) are left alone.
  }];
  let options = [
    Option<"maxStackBytes", "max-stack-bytes", "uint64_t", "65536", "largest buffer on the stack">,
    Option<"maxFrameBytes", "max-frame-bytes", "uint64_t", "1048576", "sum of the buffers on the stack of one scope">,
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def OutlineParallel : Pass<"allo-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "move each outermost `allo.parallel` loop into a function over an interval of its iterations";
  let description = [{
    `affine.for %i = lb to ub step s {allo.parallel}` in `@f` becomes `call @f_par0_fork(%lb, %ub, captures...)`, a
    declaration that `allo-parallel-runtime` fills in, and `@f_par0(%lo, %hi, captures...)` with the loop over
    [lo, hi). Constants are cloned into the new function.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def ParallelRuntime : Pass<"allo-parallel-runtime", "::mlir::ModuleOp"> {
  let summary = "give each `*_fork` declaration of `allo-outline-parallel` a body that calls `allo_parallel_for`";
  let description = [{
    Runs after the conversion to the LLVM dialect. The arguments travel in a struct on the stack of the caller; a
    generated task function unpacks them.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def TaskRuntime : Pass<"allo-task-runtime", "::mlir::ModuleOp"> {
  let summary = "give each declaration with `allo.x_spawn = @task` a body that adds the task to a region";
  let description = [{
    Runs after the conversion to the LLVM dialect. `@spawn(%region, arguments...)` calls `allo_region_spawn` with the
    arguments in a struct, of which the run-time library makes a copy; a generated function unpacks it for `@task`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ComposeAffine : Pass<"allo-compose-affine", "::mlir::func::FuncOp"> {
  let summary = "fold `affine.apply` into the maps of accesses, bounds and conditions";
  let description = [{
    Every `affine.load`, `affine.store`, `affine.for`, `affine.if` and `affine.apply` gets the composed, canonical and
    simplified map of its operands; applies without uses are erased. Nothing else changes: loops keep their names and
    attributes, also when their trip count is one.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect"];
}

def ExpandRemainders : Pass<"allo-expand-remainders", "::mlir::func::FuncOp"> {
  let summary = "make arithmetic of affine expressions that divide a remainder, which `canonicalize` folds wrongly";
  let description = [{
    An `affine.load`, `affine.store` or `affine.apply` whose map has `mod` inside of `floordiv`, `ceildiv` or `mod` gets
    computed indices. If a bound or a condition has one, the whole function leaves the affine dialect.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def LeaveAffine : Pass<"allo-leave-affine", "::mlir::func::FuncOp"> {
  let summary = "make memref, scf and arith operations of affine ones with operands that are no dimensions or symbols";
  let description = [{
    For functions that inlining has left invalid. Loops keep their names and attributes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def SimplifyBounds : Pass<"allo-simplify-bounds", "::mlir::func::FuncOp"> {
  let summary = "drop bounds of affine loops that never decide, and keep one of several equal ones";
  let description = [{
    For `affine.for` with `min` or `max` bounds, from the constant bounds of the loops around it. Folding does the same,
    but drops all of several equal bounds. Loops whose constant bounds leave no iteration are erased.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect"];
}

def SaturateCasts : Pass<"allo-saturate-casts", "::mlir::func::FuncOp"> {
  let summary = "floats outside of an integer type become its nearest number, NaN becomes 0";
  let description = [{
    Selects around each `arith.fptosi` and `arith.fptoui`, whose results are poison for such values.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExactExtrema : Pass<"allo-exact-extrema", "::mlir::func::FuncOp"> {
  let summary = "the greater of 0.0 and -0.0 is 0.0 in either order; NaN if one operand is NaN";
  let description = [{
    `arith.maximumf` and `arith.minimumf` become the intrinsics of LLVM, before `arith-expand` makes comparisons of them
    that take the first of two zeros.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def NativeIntegers : Pass<"allo-native-integers", "::mlir::func::FuncOp"> {
  let summary = "compute with integers of odd widths up to 64 bits in the next width that CPUs have";
  let description = [{
    `arith` operations on `i40`, or on vectors of it, become those on `i64` between extensions of their operands and a
    truncation of the result. Casts between integers, and what is wider than 64 bits, stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandWideDivision : Pass<"allo-expand-wide-division", "::mlir::func::FuncOp"> {
  let summary = "divide signed integers of 256 bits and more as unsigned ones; LLVM aborts on divisors that are powers of two";
  let description = [{
    `arith.divsi` and `arith.remsi` from `i256` on become the unsigned operation on magnitudes, negated where the signs ask.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FpContract : Pass<"allo-fp-contract", "::mlir::func::FuncOp"> {
  let summary = "let the back end fuse floating-point multiplications and additions";
  let description = [{
    Sets `fastmath<contract>` on `arith.addf`, `subf`, `mulf` and `negf`: what C compilers do by default
    (`-ffp-contract=fast`). No other freedom is given: sums keep their order.

    Left as they are: at most four sums at places that stay the same in an innermost affine loop, `x[i] += a * b` in a
    loop over `j`. Each waits for the one before; a fused operation makes it wait longer (4 cycles, an addition 2 to 3 on
    recent x86), as its product is not what it waits for. Loops should have their final form.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def HostFeatures : Pass<"allo-host-features", "::mlir::ModuleOp"> {
  let summary = "let the back end use what this machine has, except gathers and what gives wrong results";
  let description = [{
    Sets `target_features` on all functions with a body: those of the machine that runs this pass, and on x86
    `prefer-no-gather`. Where scalar code becomes wide, loads at distances from each other are made one by one: a gather
    of four takes twice as long, and longer where the processor is protected against leaks through gathers. Instructions
    that convert to bfloat16 are left out: they take subnormal numbers for zero. In modules that compute with integers
    of more than 64 bits AVX-512 is: LLVM 22 selects wrong lanes by its masks where such integers are put into lanes.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def IfConversion : Pass<"allo-if-conversion", "::mlir::func::FuncOp"> {
  let summary = "run what a branch computes in any case, and choose values instead of branches";
  let description = [{
    What has no effect and no input for which it has no value gets in front of `affine.if` and `scf.if`; so do loads of
    scalars, and loads that carry `allo.x_inside`: their subscripts lie in the array whether the condition holds or not.
    A branch that holds nothing more becomes `arith.select`. Two stores to one place in both branches become one, of the
    value that the condition chooses; a store to a scalar variable in one branch writes what is there already if the
    condition does not hold. All other stores stay guarded. A remark at each condition says what was done.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect"];
}

def StrengthReduceAddresses : Pass<"allo-strength-reduce-addresses", "::mlir::func::FuncOp"> {
  let summary = "count quotients and remainders of loop variables in subscripts, instead of dividing";
  let description = [{
    `e floordiv c` and `e mod c` in the map of an `affine.load`, `affine.store` or `affine.apply`, where `e` grows by a
    constant from an iteration of a loop to the next one, become two variables that step and wrap at the end of each
    iteration. The access gets computed subscripts then. Left alone: loops that are unrolled or in a pipelined loop,
    whose copies have places of their own, and parallel ones.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // ALLO_TRANSFORMS_PASSES_TD
