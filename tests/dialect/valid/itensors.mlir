func.func private @orders(!allo.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>, !allo.itensor<f32, [] * [], () -> ()>)
func.func private @sums(!allo.itensor<1x4xi8, [3, 2] * [1, 4], (d0, d1) -> (d0 * -2 + d1 + 7, -d1 + 4)>)
func.func private @elements(!allo.itensor<1x!allo.fixed<8, 3>, [3] * [1], (d0) -> (5)>)
func.func @streams() {
  %0 = allo.stream_create {allo.itensor = !allo.itensor<2x2xui8, [2] * [2], (d0) -> (0, d0)>, allo.name = "pipe"} : !allo.stream<ui8, 4>
  %alloc = memref.alloc() {allo.itensor = !allo.itensor<1xf32, [8] * [1], (d0) -> (d0)>, allo.name = "pipes"} : memref<2x!allo.stream<f32, 4>>
  %1 = allo.stream_create {allo.itensor = !allo.itensor<2x2xui8, [2] * [2], (d0) -> (0, d0)>} : !allo.stream<tensor<2x2xui8>, 4>
  return
}
