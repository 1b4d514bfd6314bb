#map = affine_map<(d0) -> (0, d0 - 2)>
#map1 = affine_map<(d0) -> (8, d0 + 3)>
module attributes {allo.top = "affine_bounds"} {
  func.func @affine_bounds(%arg0: memref<8x8xf32> {allo.name = "A"}) {
    affine.for %arg1 = 1 to 8 step 2 {
      affine.for %arg2 = max #map(%arg1) to min #map1(%arg1) {
        %cst = arith.constant 0.000000e+00 : f32
        affine.store %cst, %arg0[%arg1 floordiv 2, (%arg1 + %arg2) mod 8] : memref<8x8xf32>
      } {allo.name = "j"}
    } {allo.name = "i", allo.nest = "S_i_0"}
    return
  }
}
