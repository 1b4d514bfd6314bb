module attributes {allo.top = "named_nest"} {
  func.func @named_nest(%arg0: memref<4x8xf32> {allo.name = "A"}, %arg1: memref<8x4xf32> {allo.name = "B"}) {
    affine.for %arg2 = 0 to 4 {
      affine.for %arg3 = 0 to 8 {
        %0 = affine.load %arg0[%arg2, %arg3] : memref<4x8xf32>
        %cst = arith.constant 2.500000e+00 : f32
        %1 = arith.mulf %0, %cst : f32
        affine.store %1, %arg1[%arg3, %arg2] : memref<8x4xf32>
      } {allo.name = "j"}
    } {allo.name = "i", allo.nest = "transpose"}
    return
  }
}
