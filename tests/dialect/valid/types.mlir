func.func private @types(!allo.fixed<8, 4>, !allo.ufixed<1024, 0>, !allo.stream<f32, 1>, !allo.handle)
func.func private @blocks(!allo.stream<tensor<4x4x!allo.fixed<8, 4>>, 2>, !allo.stream<vector<8xui7>, 2>)
func.func private @structs(!allo.struct<{a: i32, "b c": !allo.fixed<8, 4>, inner: !allo.struct<{x: si1}>}>)
func.func private @arrays(memref<4x!allo.stream<ui8, 2>>, memref<?x!allo.fixed<8, 8>>, memref<2x!allo.struct<{a: f32}>>)
