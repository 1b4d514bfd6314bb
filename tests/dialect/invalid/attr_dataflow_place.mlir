func.func @f() attributes {allo.dataflow} {
  affine.for %i = 0 to 4 {
  } {allo.dataflow}
  %m = memref.alloc() {allo.dataflow} : memref<4xi8>
  return
}
// expected: 4:8: 'memref.alloc' op attribute 'allo.dataflow' belongs on a function or a loop
