func.func @f(%x: i8) {
  %c = arith.constant 8 : index
  %y = allo.get_bit %x[%c] : i8 -> i1
  return
}
// expected: 3:8: 'allo.get_bit' op bit 8 is outside of 'i8', whose bits are 0 to 7
