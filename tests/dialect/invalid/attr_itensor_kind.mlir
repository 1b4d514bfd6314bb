func.func @f() {
  %0 = allo.stream_create {allo.itensor = f32} : !allo.stream<f32, 4>
  return
}
// expected: 2:8: 'allo.stream_create' op attribute 'allo.itensor' must be an !allo.itensor, got f32
