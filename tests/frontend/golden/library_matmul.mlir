#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {allo.top = "library_matmul"} {
  func.func @library_matmul(%arg0: memref<4x8xi8> {allo.name = "A"}, %arg1: memref<8x6xi8> {allo.name = "B"}, %arg2: memref<8x6xui8> {allo.name = "C"}) -> (memref<4x6xi32>, memref<4x6xi32>) {
    %alloc = memref.alloc() {allo.name = "D"} : memref<4x6xi32>
    %c0_i32 = arith.constant 0 : i32
    linalg.fill {allo.loops = "i_init, j_init", allo.nest = "matmul_0_init"} ins(%c0_i32 : i32) outs(%alloc : memref<4x6xi32>)
    linalg.matmul {allo.loops = "i, j, k", allo.nest = "matmul_0"} ins(%arg0, %arg1 : memref<4x8xi8>, memref<8x6xi8>) outs(%alloc : memref<4x6xi32>)
    %alloc_0 = memref.alloc() {allo.name = "E"} : memref<4x6xi32>
    %c0_i32_1 = arith.constant 0 : i32
    linalg.fill {allo.loops = "i_init, j_init", allo.nest = "matmul_1_init"} ins(%c0_i32_1 : i32) outs(%alloc_0 : memref<4x6xi32>)
    linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg2 : memref<4x8xi8>, memref<8x6xui8>) outs(%alloc_0 : memref<4x6xi32>) attrs =  {allo.loops = "i, j, k", allo.nest = "matmul_1"} {
    ^bb0(%in: i8, %in_2: ui8, %out: i32):
      %0 = allo.sign_cast %in_2 : ui8 to i8
      %1 = arith.extsi %in : i8 to i32
      %2 = arith.extui %0 : i8 to i32
      %3 = arith.muli %1, %2 : i32
      %4 = arith.addi %out, %3 : i32
      linalg.yield %4 : i32
    }
    return %alloc, %alloc_0 : memref<4x6xi32>, memref<4x6xi32>
  }
}
