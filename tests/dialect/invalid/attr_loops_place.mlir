func.func @f() {
  affine.for %i = 0 to 4 {
  } {allo.loops = "i, j"}
  return
}
// expected: 2:3: 'affine.for' op attribute 'allo.loops' belongs on a linalg operation
