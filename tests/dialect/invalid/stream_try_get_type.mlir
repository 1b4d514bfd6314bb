func.func @f(%s: !allo.stream<f32, 2>) {
  %x:2 = "allo.stream_try_get"(%s) : (!allo.stream<f32, 2>) -> (i32, i1)
  return
}
// expected: 2:10: 'allo.stream_try_get' op failed to verify that the first result has the element type of the stream
