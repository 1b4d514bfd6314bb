func.func @f(%x: !allo.ufixed<8, 4>) {
  %z = allo.fixed_neg %x : !allo.ufixed<8, 4>
  return
}
// expected: 2:8: 'allo.fixed_neg' op needs a signed number, got '!allo.ufixed<8, 4>'; convert it with allo.fixed_cast
