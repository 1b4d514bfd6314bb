func.func @f() {
  affine.for %i = 0 to 4 {
  } {allo.unroll = -1 : i32}
  return
}
// expected: 2:3: 'affine.for' op attribute 'allo.unroll' must be an i32 of at least 0, got -1 : i32
