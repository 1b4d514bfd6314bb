func.func @f() {
  %0 = memref.alloc() {allo.itensor = !allo.itensor<1xf32, [4] * [1], (d0) -> (d0)>} : memref<4xf32>
  return
}
// expected: 2:8: 'memref.alloc' op attribute 'allo.itensor' belongs on allo.stream_create or memref.alloc of streams
