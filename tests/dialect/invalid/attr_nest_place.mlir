func.func @f() {
  %a = memref.alloc() {allo.nest = "S_i_0"} : memref<f32>
  return
}
// expected: 2:8: 'memref.alloc' op attribute 'allo.nest' belongs on a loop (affine.for, scf.for, scf.while) or a linalg operation
