func.func @f(%s: !allo.stream<f32, 2>) {
  %x = "allo.stream_peek"(%s) : (!allo.stream<f32, 2>) -> i32
  return
}
// expected: 2:8: 'allo.stream_peek' op failed to verify that the result has the element type of the stream
