func.func @f(%x: f32) {
  %z = allo.fixed_cast %x {overflow = "sat"} : f32 to !allo.fixed<8, 4>
  return
}
// expected: 2:8: 'allo.fixed_cast' op attribute 'overflow' must be "wrap" or "saturate", got "sat"
