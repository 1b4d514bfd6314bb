func.func @f(%x: i32) {
  %s = "allo.struct_construct"(%x) : (i32) -> !allo.struct<{a: f32}>
  return
}
// expected: 2:8: 'allo.struct_construct' op failed to verify that there is one value for each field, of the type of the field
