func.func @f(%x: f32) {
  %y = allo.bitcast %x : f32 to i16
  return
}
// expected: 2:8: 'allo.bitcast' op needs two types of one width, got 'f32' of 32 bits and 'i16' of 16
