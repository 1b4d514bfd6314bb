func.func @f(%s: !allo.struct<{a: i32, b: f32}>) {
  %x = allo.struct_get %s["c"] : !allo.struct<{a: i32, b: f32}>
  return
}
// expected: 2:8: no field 'c' in '!allo.struct<{a: i32, b: f32}>'; its fields are 'a', 'b'
