func.func @f() {
  affine.for %i = 0 to 4 {
  } {allo.memory = {resource = "BRAM"}}
  return
}
// expected: 2:3: 'affine.for' op attribute 'allo.memory' belongs on memref.alloc, memref.alloca or memref.get_global
