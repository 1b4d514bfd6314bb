func.func @f(%x: i8, %i: index) {
  %y = allo.get_slice %x[%i, %i] : i8 -> i9
  return
}
// expected: 2:8: 'allo.get_slice' op a slice of 'i8' has at most 8 bits, got 'i9'
