func.func @f(%c: i1) {
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.yield
  } attributes {allo.unroll = 2 : i32}
  return
}
// expected: 2:3: 'scf.while' op attribute 'allo.unroll' belongs on affine.for or scf.for
