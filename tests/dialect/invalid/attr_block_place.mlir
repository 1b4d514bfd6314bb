func.func @f() {
  %0 = memref.alloc() {allo.block = 4 : i32} : memref<4xf32>
  return
}
// expected: 2:8: 'memref.alloc' op attribute 'allo.block' belongs on allo.stream_create or memref.alloc of streams
