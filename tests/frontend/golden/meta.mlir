module attributes {allo.top = "meta"} {
  func.func @meta(%arg0: memref<4xi32> {allo.name = "A"}) {
    %0 = memref.get_global @meta_total : memref<i32> {allo.name = "total"}
    %1 = affine.load %0[] : memref<i32>
    %2 = arith.extsi %1 : i32 to i33
    %3 = affine.load %arg0[0] : memref<4xi32>
    %4 = arith.extsi %3 : i32 to i33
    %5 = arith.addi %2, %4 : i33
    %6 = arith.trunci %5 : i33 to i32
    affine.store %6, %0[] : memref<i32>
    %7 = affine.load %0[] : memref<i32>
    affine.store %7, %arg0[1] : memref<4xi32>
    return
  }
  memref.global "private" @meta_total : memref<i32> = dense<5>
}
