func.func @f(%x: f32) {
  %y = allo.sign_cast %x : f32 to i32
  return
}
// expected: 2:28: custom op 'allo.sign_cast' invalid kind of type specified: expected builtin.integer, but found 'f32'
