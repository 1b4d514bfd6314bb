func.func @f(%s: !allo.stream<f32, 2>, %x: i32) {
  %d = allo.stream_try_put %s, %x : !allo.stream<f32, 2>
  return
}
// expected: 2:32: use of value '%x' expects different type than prior uses: 'f32' vs 'i32'
