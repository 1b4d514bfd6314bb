module attributes {allo.top = "library_matmul"} {
  func.func @library_matmul(%arg0: memref<4x8xi8> {allo.name = "A"}, %arg1: memref<8x6xi8> {allo.name = "B"}, %arg2: memref<8x6xui8> {allo.name = "C"}) -> (memref<4x6xi32>, memref<4x6xi32>) {
    %alloc = memref.alloc() {allo.name = "D"} : memref<4x6xi32>
    %c0_i32 = arith.constant 0 : i32
    affine.for %arg3 = 0 to 4 {
      affine.for %arg4 = 0 to 6 {
        affine.store %c0_i32, %alloc[%arg3, %arg4] : memref<4x6xi32>
      } {allo.name = "j_init"}
    } {allo.name = "i_init", allo.nest = "matmul_0_init"}
    affine.for %arg3 = 0 to 4 {
      affine.for %arg4 = 0 to 6 {
        affine.for %arg5 = 0 to 8 {
          %0 = affine.load %arg0[%arg3, %arg5] : memref<4x8xi8>
          %1 = affine.load %arg1[%arg5, %arg4] : memref<8x6xi8>
          %2 = affine.load %alloc[%arg3, %arg4] : memref<4x6xi32>
          %3 = arith.extsi %0 : i8 to i32
          %4 = arith.extsi %1 : i8 to i32
          %5 = arith.muli %3, %4 : i32
          %6 = arith.addi %2, %5 : i32
          affine.store %6, %alloc[%arg3, %arg4] : memref<4x6xi32>
        } {allo.name = "k"}
      } {allo.name = "j"}
    } {allo.name = "i", allo.nest = "matmul_0"}
    %alloc_0 = memref.alloc() {allo.name = "E"} : memref<4x6xi32>
    %c0_i32_1 = arith.constant 0 : i32
    affine.for %arg3 = 0 to 4 {
      affine.for %arg4 = 0 to 6 {
        affine.store %c0_i32_1, %alloc_0[%arg3, %arg4] : memref<4x6xi32>
      } {allo.name = "j_init"}
    } {allo.name = "i_init", allo.nest = "matmul_1_init"}
    affine.for %arg3 = 0 to 4 {
      affine.for %arg4 = 0 to 6 {
        affine.for %arg5 = 0 to 8 {
          %0 = affine.load %arg0[%arg3, %arg5] : memref<4x8xi8>
          %1 = affine.load %arg2[%arg5, %arg4] : memref<8x6xui8>
          %2 = affine.load %alloc_0[%arg3, %arg4] : memref<4x6xi32>
          %3 = allo.sign_cast %1 : ui8 to i8
          %4 = arith.extsi %0 : i8 to i32
          %5 = arith.extui %3 : i8 to i32
          %6 = arith.muli %4, %5 : i32
          %7 = arith.addi %2, %6 : i32
          affine.store %7, %alloc_0[%arg3, %arg4] : memref<4x6xi32>
        } {allo.name = "k"}
      } {allo.name = "j"}
    } {allo.name = "i", allo.nest = "matmul_1"}
    return %alloc, %alloc_0 : memref<4x6xi32>, memref<4x6xi32>
  }
}
