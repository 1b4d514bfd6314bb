func.func @f(%x: i8, %v: i2) {
  %h = arith.constant 2 : index
  %l = arith.constant 4 : index
  %y = allo.set_slice %x[%h, %l], %v : i8, i2
  return
}
// expected: 4:8: 'allo.set_slice' op the slice [4:2] is empty or outside of 'i8'; it needs 0 <= lo < hi <= 8
