func.func @f(%s: !allo.stream<f32, 2>) {
  %x:2 = "allo.stream_try_get"(%s) : (!allo.stream<f32, 2>) -> (f32, i8)
  return
}
// expected: 2:10: 'allo.stream_try_get' op result #1 must be 1-bit signless integer, but got 'i8'
