module attributes {allo.top = "f"} {
  func.func @f(%arg0: memref<4xf32> {allo.memory = {resource = "URAM"}, allo.name = "A"}, %arg1: index {allo.x_mark}) -> (f32 {allo.name = "r"}) attributes {allo.x_own = 3 : i32} {
    affine.for %arg2 = 0 to 4 {
      %alloc = memref.alloc() {allo.memory = {depth = 4 : i32, latency = 0 : i32, resource = "BRAM", storage_type = "RAM_2P"}, allo.name = "x"} : memref<f32>
    } {allo.name = "i", allo.nest = "S_i_0", allo.parallel, allo.pipeline = 2 : i32, allo.rewind, allo.scheduled, allo.unroll = 0 : i32}
    scf.for %arg2 = %arg1 to %arg1 step %arg1 {
    } {allo.name = "j", allo.unroll = 4 : i32}
    %0 = affine.load %arg0[0] : memref<4xf32>
    linalg.fill {allo.loops = "i", allo.nest = "fill_0"} ins(%0 : f32) outs(%arg0 : memref<4xf32>)
    return %0 : f32
  }
}
