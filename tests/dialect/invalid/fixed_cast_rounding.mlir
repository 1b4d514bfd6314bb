func.func @f(%x: f32) {
  %z = allo.fixed_cast %x {rounding = "up"} : f32 to !allo.fixed<8, 4>
  return
}
// expected: 2:8: 'allo.fixed_cast' op attribute 'rounding' must be "trunc" or "round", got "up"
