module attributes {allo.top = "local_array"} {
  func.func @local_array() -> memref<4xi32> {
    %alloc = memref.alloc() {allo.name = "B"} : memref<4xi32>
    affine.for %arg0 = 0 to 4 {
      %c3_i32 = arith.constant 3 : i32
      affine.store %c3_i32, %alloc[%arg0] : memref<4xi32>
    } {allo.name = "B_init_0", allo.nest = "B_init"}
    return %alloc : memref<4xi32>
  }
}
