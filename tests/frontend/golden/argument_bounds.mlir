#map = affine_map<(d0) -> (d0)>
module attributes {allo.top = "argument_bounds"} {
  func.func @argument_bounds(%arg0: memref<16xf32> {allo.name = "A"}, %arg1: i32 {allo.name = "n"}, %arg2: index {allo.name = "m"}) {
    %0 = arith.index_cast %arg1 : i32 to index
    affine.for %arg3 = #map(%arg2) to #map(%0) {
      %1 = affine.load %arg0[%arg3] : memref<16xf32>
      affine.store %1, %arg0[%arg3 + %arg2] : memref<16xf32>
    } {allo.name = "i", allo.nest = "S_i_0"}
    return
  }
}
