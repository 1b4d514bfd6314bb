func.func @f(%x: !allo.fixed<600, 4>) {
  %z = allo.fixed_mul %x, %x : !allo.fixed<600, 4>, !allo.fixed<600, 4>
  return
}
// expected: 2:8: a fixed-point number has 1 to 1024 bits, got 1200
