#set = affine_set<(d0, d1) : (d1 - (d0 + 1) - 1 >= 0, -d1 + 6 >= 0)>
#set1 = affine_set<(d0, d1) : (d0 - d1 == 0)>
module attributes {allo.top = "affine_branch"} {
  func.func @affine_branch(%arg0: memref<8x8xf32> {allo.name = "A"}) {
    affine.for %arg1 = 0 to 8 {
      affine.for %arg2 = 0 to 8 {
        affine.if #set(%arg1, %arg2) {
          %cst = arith.constant 1.000000e+00 : f32
          affine.store %cst, %arg0[%arg1, %arg2] : memref<8x8xf32>
        } else {
          affine.if #set1(%arg1, %arg2) {
            %cst = arith.constant 2.000000e+00 : f32
            affine.store %cst, %arg0[%arg1, %arg2] : memref<8x8xf32>
          } else {
            %cst = arith.constant 3.000000e+00 : f32
            affine.store %cst, %arg0[%arg1, %arg2] : memref<8x8xf32>
          }
        }
      } {allo.name = "j"}
    } {allo.name = "i", allo.nest = "S_i_j_0"}
    return
  }
}
