func.func @f(%s: !allo.stream<f32, 2>, %x: i32) {
  "allo.stream_put"(%s, %x) : (!allo.stream<f32, 2>, i32) -> ()
  return
}
// expected: 2:3: 'allo.stream_put' op failed to verify that the value has the element type of the stream
