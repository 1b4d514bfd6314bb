func.func @structs(%arg0: f32, %arg1: !allo.fixed<8, 4>) -> f32 {
  %0 = allo.struct_construct %arg0, %arg1 : !allo.struct<{a: f32, "b c": !allo.fixed<8, 4>}>
  %1 = allo.struct_get %0["b c"] : !allo.struct<{a: f32, "b c": !allo.fixed<8, 4>}>
  %2 = allo.struct_get %0["a"] : !allo.struct<{a: f32, "b c": !allo.fixed<8, 4>}>
  return %2 : f32
}
