func.func private @callee(memref<4xf32, #allo.partition<[cyclic 2]>>)
func.func @caller(%a: memref<4xf32>) {
  "func.call"(%a) {callee = @callee} : (memref<4xf32>) -> ()
  return
}
// expected: 3:3: 'func.call' op operand type mismatch: expected operand type 'memref<4xf32, #allo.partition<[cyclic 2]>>', but provided 'memref<4xf32>' for operand number 0
