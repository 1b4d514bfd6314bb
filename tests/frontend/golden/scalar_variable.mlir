module attributes {allo.top = "scalar_variable"} {
  func.func @scalar_variable(%arg0: memref<8xf32> {allo.name = "A"}) -> f32 {
    %cst = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {allo.name = "total"} : memref<f32>
    affine.store %cst, %alloc[] : memref<f32>
    affine.for %arg1 = 0 to 8 {
      %1 = affine.load %alloc[] : memref<f32>
      %2 = affine.load %arg0[%arg1] : memref<8xf32>
      %3 = arith.addf %1, %2 : f32
      affine.store %3, %alloc[] : memref<f32>
    } {allo.name = "k", allo.nest = "S_k_0"}
    %0 = affine.load %alloc[] : memref<f32>
    return %0 : f32
  }
}
