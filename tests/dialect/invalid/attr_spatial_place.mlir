func.func @f(%c: i1) {
  affine.for %i = 0 to 4 {
  } {allo.spatial}
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.yield
  } attributes {allo.spatial}
  return
}
// expected: 4:3: 'scf.while' op attribute 'allo.spatial' belongs on affine.for or scf.for
