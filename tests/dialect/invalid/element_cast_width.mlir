func.func @f(%x: memref<4xi8>) {
  %y = allo.element_cast %x : memref<4xi8> to memref<4x!allo.fixed<9, 4>>
  return
}
// expected: 2:8: 'allo.element_cast' op needs two element types of one width, got 'i8' and '!allo.fixed<9, 4>'
