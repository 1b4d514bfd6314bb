func.func @f(%x: i8) {
  %z = allo.fixed_cast %x : i8 to i16
  return
}
// expected: 2:8: 'allo.fixed_cast' op converts from or to a fixed-point number, got 'i8' and 'i16'; use the casts of arith
