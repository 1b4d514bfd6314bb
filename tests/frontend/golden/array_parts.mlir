module attributes {allo.top = "array_parts"} {
  func.func @array_parts(%arg0: memref<4x8xf32> {allo.name = "A"}, %arg1: memref<8xf32> {allo.name = "v"}) {
    %alloc = memref.alloc() {allo.name = "A_new"} : memref<3x8xf32>
    affine.for %arg2 = 0 to 3 {
      affine.for %arg3 = 0 to 8 {
        %1 = affine.load %arg0[%arg2, %arg3] : memref<4x8xf32>
        %2 = affine.load %arg1[%arg3] : memref<8xf32>
        %3 = arith.addf %1, %2 : f32
        affine.store %3, %alloc[%arg2, %arg3] : memref<3x8xf32>
      } {allo.name = "A_new_init_1"}
    } {allo.name = "A_new_init_0", allo.nest = "A_new_init"}
    affine.for %arg2 = 0 to 3 {
      affine.for %arg3 = 0 to 8 {
        %1 = affine.load %alloc[%arg2, %arg3] : memref<3x8xf32>
        affine.store %1, %arg0[%arg2 + 1, %arg3] : memref<4x8xf32>
      } {allo.name = "A_set_1"}
    } {allo.name = "A_set_0", allo.nest = "A_set"}
    %0 = affine.load %arg0[0, 0] : memref<4x8xf32>
    %alloc_0 = memref.alloc() {allo.name = "A_value"} : memref<f32>
    affine.store %0, %alloc_0[] : memref<f32>
    affine.for %arg2 = 0 to 8 {
      %1 = affine.load %arg0[0, %arg2] : memref<4x8xf32>
      %2 = affine.load %alloc_0[] : memref<f32>
      %3 = arith.mulf %1, %2 : f32
      affine.store %3, %arg0[0, %arg2] : memref<4x8xf32>
    } {allo.name = "A_set_0", allo.nest = "A_set_1"}
    return
  }
}
