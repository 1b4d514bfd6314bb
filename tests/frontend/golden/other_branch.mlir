module attributes {allo.top = "other_branch"} {
  func.func @other_branch(%arg0: memref<8xf32> {allo.name = "A"}) {
    affine.for %arg1 = 0 to 8 {
      %0 = affine.load %arg0[%arg1] : memref<8xf32>
      %cst = arith.constant 0.000000e+00 : f32
      %1 = arith.cmpf ogt, %0, %cst : f32
      %2 = arith.index_cast %arg1 : index to i32
      %c3_i32 = arith.constant 3 : i32
      %3 = arith.cmpi ne, %2, %c3_i32 : i32
      %4 = arith.ori %1, %3 : i1
      scf.if %4 {
        %cst_0 = arith.constant -0.000000e+00 : f32
        %5 = affine.load %arg0[%arg1] : memref<8xf32>
        %6 = arith.subf %cst_0, %5 : f32
        affine.store %6, %arg0[%arg1] : memref<8xf32>
      }
    } {allo.name = "i", allo.nest = "S_i_0"}
    return
  }
}
