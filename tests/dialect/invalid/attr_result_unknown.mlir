func.func private @f() -> (i32 {allo.nme = "A"})
// expected: 1:1: 'func.func' op unknown attribute 'allo.nme'; did you mean 'allo.name'? (a name of your own starts with 'allo.x_')
