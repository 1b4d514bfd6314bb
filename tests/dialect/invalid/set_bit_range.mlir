func.func @f(%x: i8, %b: i1) {
  %c = arith.constant -1 : index
  %y = allo.set_bit %x[%c], %b : i8
  return
}
// expected: 3:8: 'allo.set_bit' op bit -1 is outside of 'i8', whose bits are 0 to 7
