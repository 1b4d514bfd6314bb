func.func @f(%x: memref<4xf32>) {
  %y = allo.element_cast %x : memref<4xf32> to memref<4xi32>
  return
}
