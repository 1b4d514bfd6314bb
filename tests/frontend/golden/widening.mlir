module attributes {allo.top = "widening"} {
  func.func @widening(%arg0: memref<8xi32> {allo.name = "A"}, %arg1: memref<8xui8> {allo.name = "B"}) {
    affine.for %arg2 = 0 to 8 {
      %0 = affine.load %arg0[%arg2] : memref<8xi32>
      %1 = arith.extsi %0 : i32 to i40
      %2 = affine.load %arg1[%arg2] : memref<8xui8>
      %3 = allo.sign_cast %2 : ui8 to i8
      %4 = arith.extui %3 : i8 to i40
      %5 = arith.muli %1, %4 : i40
      %6 = arith.extsi %5 : i40 to i41
      %c1_i41 = arith.constant 1 : i41
      %7 = arith.addi %6, %c1_i41 : i41
      %8 = arith.trunci %7 : i41 to i32
      affine.store %8, %arg0[%arg2] : memref<8xi32>
    } {allo.name = "i", allo.nest = "S_i_0"}
    return
  }
}
