#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
module attributes {allo.top = "library_softmax"} {
  func.func @library_softmax(%arg0: memref<4x8xf32> {allo.name = "A"}) -> memref<4x8xf32> {
    %alloc = memref.alloc() {allo.name = "softmax_in"} : memref<4x8xf32>
    affine.for %arg1 = 0 to 4 {
      affine.for %arg2 = 0 to 8 {
        %0 = affine.load %arg0[%arg1, %arg2] : memref<4x8xf32>
        %cst_4 = arith.constant 2.000000e+00 : f32
        %1 = arith.mulf %0, %cst_4 : f32
        affine.store %1, %alloc[%arg1, %arg2] : memref<4x8xf32>
      } {allo.name = "softmax_in_init_1"}
    } {allo.name = "softmax_in_init_0", allo.nest = "softmax_in_init"}
    %alloc_0 = memref.alloc() {allo.name = "library_softmax_result"} : memref<4x8xf32>
    %alloc_1 = memref.alloc() {allo.name = "softmax_max"} : memref<4xf32>
    %cst = arith.constant 0xFF800000 : f32
    linalg.fill {allo.loops = "i0", allo.nest = "softmax_0_max_init"} ins(%cst : f32) outs(%alloc_1 : memref<4xf32>)
    linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%alloc : memref<4x8xf32>) outs(%alloc_1 : memref<4xf32>) attrs =  {allo.loops = "i0, i1", allo.nest = "softmax_0_max"} {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.cmpf ogt, %in, %out : f32
      %1 = arith.select %0, %in, %out : f32
      linalg.yield %1 : f32
    }
    linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%alloc, %alloc_1 : memref<4x8xf32>, memref<4xf32>) outs(%alloc_0 : memref<4x8xf32>) attrs =  {allo.loops = "i0, i1", allo.nest = "softmax_0_exp"} {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %0 = arith.subf %in, %in_4 : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    }
    %alloc_2 = memref.alloc() {allo.name = "softmax_sum"} : memref<4xf32>
    %cst_3 = arith.constant 0.000000e+00 : f32
    linalg.fill {allo.loops = "i0", allo.nest = "softmax_0_sum_init"} ins(%cst_3 : f32) outs(%alloc_2 : memref<4xf32>)
    linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%alloc_0 : memref<4x8xf32>) outs(%alloc_2 : memref<4xf32>) attrs =  {allo.loops = "i0, i1", allo.nest = "softmax_0_sum"} {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %out, %in : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%alloc_0, %alloc_2 : memref<4x8xf32>, memref<4xf32>) outs(%alloc_0 : memref<4x8xf32>) attrs =  {allo.loops = "i0, i1", allo.nest = "softmax_0"} {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %0 = arith.divf %in, %in_4 : f32
      linalg.yield %0 : f32
    }
    return %alloc_0 : memref<4x8xf32>
  }
}
