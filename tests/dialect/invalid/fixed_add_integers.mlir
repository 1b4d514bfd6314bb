func.func @f(%x: i8) {
  %z = allo.fixed_add %x, %x : i8
  return
}
// expected: 2:8: custom op 'allo.fixed_add' 'lhs' must be a fixed-point number (!allo.fixed or !allo.ufixed), but got 'i8'
