func.func @f() {
  %0 = memref.alloc() {allo.memory = "BRAM"} : memref<4xi32>
  return
}
// expected: 2:8: 'memref.alloc' op attribute 'allo.memory' must be a dictionary, got "BRAM"
