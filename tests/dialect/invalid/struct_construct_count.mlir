func.func @f(%x: i32) {
  %s = allo.struct_construct %x : !allo.struct<{a: i32, b: i32}>
  return
}
// expected: 2:30: custom op 'allo.struct_construct' number of operands and types do not match: got 1 operands and 2 types
