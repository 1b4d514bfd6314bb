func.func @f() {
  affine.for %i = 0 to 4 {
  } {allo.parallel = true}
  return
}
// expected: 2:3: 'affine.for' op attribute 'allo.parallel' takes no value, got true
