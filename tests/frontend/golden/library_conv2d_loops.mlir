module attributes {allo.top = "library_conv2d"} {
  func.func @library_conv2d(%arg0: memref<1x3x8x8xf32> {allo.name = "X"}, %arg1: memref<4x3x3x3xf32> {allo.name = "W"}) -> memref<1x4x3x3xf32> {
    %alloc = memref.alloc() {allo.name = "library_conv2d_result"} : memref<1x4x3x3xf32>
    %cst = arith.constant 0.000000e+00 : f32
    affine.for %arg2 = 0 to 1 {
      affine.for %arg3 = 0 to 4 {
        affine.for %arg4 = 0 to 3 {
          affine.for %arg5 = 0 to 3 {
            affine.store %cst, %alloc[%arg2, %arg3, %arg4, %arg5] : memref<1x4x3x3xf32>
          } {allo.name = "ow_init"}
        } {allo.name = "oh_init"}
      } {allo.name = "f_init"}
    } {allo.name = "n_init", allo.nest = "conv2d_0_init"}
    affine.for %arg2 = 0 to 1 {
      affine.for %arg3 = 0 to 4 {
        affine.for %arg4 = 0 to 3 {
          affine.for %arg5 = 0 to 3 {
            affine.for %arg6 = 0 to 3 {
              affine.for %arg7 = 0 to 3 {
                affine.for %arg8 = 0 to 3 {
                  %0 = affine.load %arg0[%arg2, %arg6, %arg4 * 2 + %arg7, %arg5 * 2 + %arg8] : memref<1x3x8x8xf32>
                  %1 = affine.load %arg1[%arg3, %arg6, %arg7, %arg8] : memref<4x3x3x3xf32>
                  %2 = affine.load %alloc[%arg2, %arg3, %arg4, %arg5] : memref<1x4x3x3xf32>
                  %3 = arith.mulf %0, %1 : f32
                  %4 = arith.addf %2, %3 : f32
                  affine.store %4, %alloc[%arg2, %arg3, %arg4, %arg5] : memref<1x4x3x3xf32>
                } {allo.name = "kw"}
              } {allo.name = "kh"}
            } {allo.name = "c"}
          } {allo.name = "ow"}
        } {allo.name = "oh"}
      } {allo.name = "f"}
    } {allo.name = "n", allo.nest = "conv2d_0"}
    return %alloc : memref<1x4x3x3xf32>
  }
}
