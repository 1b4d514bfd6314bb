module attributes {allo.top = "array_copy"} {
  func.func @array_copy(%arg0: memref<4xi8> {allo.name = "A"}) -> memref<4xi16> {
    %alloc = memref.alloc() {allo.name = "B"} : memref<4xi16>
    affine.for %arg1 = 0 to 4 {
      %0 = affine.load %arg0[%arg1] : memref<4xi8>
      %1 = arith.extsi %0 : i8 to i16
      affine.store %1, %alloc[%arg1] : memref<4xi16>
    } {allo.name = "B_init_0", allo.nest = "B_init"}
    return %alloc : memref<4xi16>
  }
}
