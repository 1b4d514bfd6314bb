func.func @f(%x: i32) {
  %y = arith.addi %x, %x {allo.pipeline = 1 : i32} : i32
  return
}
// expected: 2:8: 'arith.addi' op attribute 'allo.pipeline' belongs on a loop (affine.for, scf.for, scf.while)
