module attributes {allo.top = "library_softmax"} {
  func.func @library_softmax(%arg0: memref<4x8xf32> {allo.name = "A"}) -> memref<4x8xf32> {
    %alloc = memref.alloc() {allo.name = "softmax_in"} : memref<4x8xf32>
    affine.for %arg1 = 0 to 4 {
      affine.for %arg2 = 0 to 8 {
        %0 = affine.load %arg0[%arg1, %arg2] : memref<4x8xf32>
        %cst_4 = arith.constant 2.000000e+00 : f32
        %1 = arith.mulf %0, %cst_4 : f32
        affine.store %1, %alloc[%arg1, %arg2] : memref<4x8xf32>
      } {allo.name = "softmax_in_init_1"}
    } {allo.name = "softmax_in_init_0", allo.nest = "softmax_in_init"}
    %alloc_0 = memref.alloc() {allo.name = "library_softmax_result"} : memref<4x8xf32>
    %alloc_1 = memref.alloc() {allo.name = "softmax_max"} : memref<4xf32>
    %cst = arith.constant 0xFF800000 : f32
    affine.for %arg1 = 0 to 4 {
      affine.store %cst, %alloc_1[%arg1] : memref<4xf32>
    } {allo.name = "i0", allo.nest = "softmax_0_max_init"}
    affine.for %arg1 = 0 to 4 {
      affine.for %arg2 = 0 to 8 {
        %0 = affine.load %alloc[%arg1, %arg2] : memref<4x8xf32>
        %1 = affine.load %alloc_1[%arg1] : memref<4xf32>
        %2 = arith.cmpf ogt, %0, %1 : f32
        %3 = arith.select %2, %0, %1 : f32
        affine.store %3, %alloc_1[%arg1] : memref<4xf32>
      } {allo.name = "i1"}
    } {allo.name = "i0", allo.nest = "softmax_0_max"}
    affine.for %arg1 = 0 to 4 {
      affine.for %arg2 = 0 to 8 {
        %0 = affine.load %alloc[%arg1, %arg2] : memref<4x8xf32>
        %1 = affine.load %alloc_1[%arg1] : memref<4xf32>
        %2 = arith.subf %0, %1 : f32
        %3 = math.exp %2 : f32
        affine.store %3, %alloc_0[%arg1, %arg2] : memref<4x8xf32>
      } {allo.name = "i1"}
    } {allo.name = "i0", allo.nest = "softmax_0_exp"}
    %alloc_2 = memref.alloc() {allo.name = "softmax_sum"} : memref<4xf32>
    %cst_3 = arith.constant 0.000000e+00 : f32
    affine.for %arg1 = 0 to 4 {
      affine.store %cst_3, %alloc_2[%arg1] : memref<4xf32>
    } {allo.name = "i0", allo.nest = "softmax_0_sum_init"}
    affine.for %arg1 = 0 to 4 {
      affine.for %arg2 = 0 to 8 {
        %0 = affine.load %alloc_0[%arg1, %arg2] : memref<4x8xf32>
        %1 = affine.load %alloc_2[%arg1] : memref<4xf32>
        %2 = arith.addf %1, %0 : f32
        affine.store %2, %alloc_2[%arg1] : memref<4xf32>
      } {allo.name = "i1"}
    } {allo.name = "i0", allo.nest = "softmax_0_sum"}
    affine.for %arg1 = 0 to 4 {
      affine.for %arg2 = 0 to 8 {
        %0 = affine.load %alloc_0[%arg1, %arg2] : memref<4x8xf32>
        %1 = affine.load %alloc_2[%arg1] : memref<4xf32>
        %2 = arith.divf %0, %1 : f32
        affine.store %2, %alloc_0[%arg1, %arg2] : memref<4x8xf32>
      } {allo.name = "i1"}
    } {allo.name = "i0", allo.nest = "softmax_0"}
    return %alloc_0 : memref<4x8xf32>
  }
}
