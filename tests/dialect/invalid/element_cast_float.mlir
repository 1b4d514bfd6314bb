func.func @f(%x: memref<4xf32>) {
  %y = allo.element_cast %x : memref<4xf32> to memref<4xi32>
  return
}
// expected: 2:8: 'allo.element_cast' op does not see floats as other elements, got 'f32' and 'i32'; use allo.bitcast on each element
