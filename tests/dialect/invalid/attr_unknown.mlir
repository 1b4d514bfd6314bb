func.func @f() {
  affine.for %i = 0 to 4 {
  } {allo.pipelin = 1 : i32}
  return
}
// expected: 2:3: 'affine.for' op unknown attribute 'allo.pipelin'; did you mean 'allo.pipeline'? (a name of your own starts with 'allo.x_')
