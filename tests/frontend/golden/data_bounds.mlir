module attributes {allo.top = "data_bounds"} {
  func.func @data_bounds(%arg0: memref<16xf32> {allo.name = "A"}, %arg1: memref<16xi32> {allo.name = "B"}) {
    %0 = affine.load %arg1[0] : memref<16xi32>
    %1 = arith.index_cast %0 : i32 to index
    %c16 = arith.constant 16 : index
    %c2 = arith.constant 2 : index
    scf.for %arg2 = %1 to %c16 step %c2 {
      %2 = memref.load %arg1[%arg2] : memref<16xi32>
      %3 = arith.index_cast %2 : i32 to index
      %4 = memref.load %arg0[%3] : memref<16xf32>
      %cst = arith.constant 1.500000e+00 : f32
      %5 = arith.addf %4, %cst : f32
      %6 = memref.load %arg1[%arg2] : memref<16xi32>
      %7 = arith.index_cast %6 : i32 to index
      memref.store %5, %arg0[%7] : memref<16xf32>
    } {allo.name = "i", allo.nest = "S_i_0"}
    return
  }
}
