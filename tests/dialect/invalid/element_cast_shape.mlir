func.func @f(%x: memref<4xi8>) {
  %y = allo.element_cast %x : memref<4xi8> to memref<5x!allo.fixed<8, 4>>
  return
}
// expected: 2:8: 'allo.element_cast' op changes the element type only, got 'memref<4xi8>' and 'memref<5x!allo.fixed<8, 4>>'
