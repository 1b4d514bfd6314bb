func.func @f() {
  affine.for %i = 0 to 4 {
  } {allo.name = 1 : i32}
  return
}
// expected: 2:3: 'affine.for' op attribute 'allo.name' must be a string, got 1 : i32
