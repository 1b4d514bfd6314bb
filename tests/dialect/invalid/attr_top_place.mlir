func.func private @f() attributes {allo.top = "f"}
// expected: 1:1: 'func.func' op attribute 'allo.top' belongs on builtin.module
