module attributes {allo.top = "constant_array"} {
  func.func @constant_array(%arg0: memref<2xi16> {allo.name = "A"}) {
    %0 = memref.get_global @constant_array_TABLE : memref<2x2xi16> {allo.name = "TABLE"}
    affine.for %arg1 = 0 to 2 {
      %1 = affine.load %0[%arg1, 1] : memref<2x2xi16>
      affine.store %1, %arg0[%arg1] : memref<2xi16>
    } {allo.name = "i", allo.nest = "S_i_0"}
    return
  }
  memref.global "private" constant @constant_array_TABLE : memref<2x2xi16> = dense<[[1, 2], [3, 4]]>
}
