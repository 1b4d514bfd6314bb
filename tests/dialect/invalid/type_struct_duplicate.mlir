func.func private @f(!allo.struct<{a: i32, a: f32}>)
// expected: 1:34: two fields of the struct are named 'a'; rename one
