#map = affine_map<(d0) -> (d0 * -3 + 9)>
module attributes {allo.top = "negative_step"} {
  func.func @negative_step(%arg0: memref<10xi32> {allo.name = "A"}) {
    affine.for %arg1 = 0 to 3 {
      %0 = affine.apply #map(%arg1)
      %1 = arith.index_cast %0 : index to i32
      affine.store %1, %arg0[%arg1 * -3 + 9] : memref<10xi32>
    } {allo.name = "i", allo.nest = "S_i_0"}
    return
  }
}
