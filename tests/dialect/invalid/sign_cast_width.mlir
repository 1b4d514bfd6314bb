func.func @f(%x: ui8) {
  %y = allo.sign_cast %x : ui8 to i16
  return
}
// expected: 2:8: 'allo.sign_cast' op changes the signedness only, not the width, got 'ui8' and 'i16'; extend or truncate with arith
