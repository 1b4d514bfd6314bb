func.func @f() {
  %0 = allo.stream_create {allo.itensor = !allo.itensor<2xf32, [4] * [1], (d0) -> (d0)>} : !allo.stream<tensor<4xf32>, 4>
  return
}
// expected: 2:8: 'allo.stream_create' op the blocks of 'allo.itensor' are not those of the stream, 'tensor<4xf32>': '!allo.itensor<2xf32, [4] * [1], (d0) -> (d0)>'
