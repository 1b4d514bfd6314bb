func.func @f() {
  affine.for %i = 0 to 4 {
  } {allo.pipeline = 0 : i32}
  return
}
// expected: 2:3: 'affine.for' op attribute 'allo.pipeline' must be an i32 of at least 1, got 0 : i32
