func.func @f() {
  %0 = allo.stream_create {allo.packed = 0 : i32} : !allo.stream<ui32, 2>
  return
}
// expected: 2:8: 'allo.stream_create' op attribute 'allo.packed' must be an i32 of at least 1, got 0 : i32
