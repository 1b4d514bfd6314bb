module attributes {allo.top = "caller"} {
  func.func @callee(%arg0: memref<4xui8> {allo.name = "B"}, %arg1: ui8 {allo.name = "k"}) -> (ui8, i1) {
    %0 = allo.sign_cast %arg1 : ui8 to i8
    %1 = arith.index_castui %0 : i8 to index
    %2 = allo.sign_cast %0 : i8 to ui8
    affine.store %2, %arg0[0] : memref<4xui8>
    %3 = affine.load %arg0[1] : memref<4xui8>
    %4 = allo.sign_cast %3 : ui8 to i8
    %5 = allo.sign_cast %4 : i8 to ui8
    %c3_i8 = arith.constant 3 : i8
    %6 = arith.cmpi ugt, %0, %c3_i8 : i8
    return %5, %6 : ui8, i1
  }
  func.func @caller(%arg0: memref<4xui8> {allo.name = "A"}) -> ui8 {
    %c-56_i8 = arith.constant -56 : i8
    %0 = allo.sign_cast %c-56_i8 : i8 to ui8
    %1:2 = call @callee(%arg0, %0) : (memref<4xui8>, ui8) -> (ui8, i1)
    %alloc = memref.alloc() {allo.name = "x"} : memref<ui8>
    %2 = allo.sign_cast %1#0 : ui8 to i8
    %3 = allo.sign_cast %2 : i8 to ui8
    affine.store %3, %alloc[] : memref<ui8>
    %alloc_0 = memref.alloc() {allo.name = "large"} : memref<i1>
    affine.store %1#1, %alloc_0[] : memref<i1>
    %4 = affine.load %alloc_0[] : memref<i1>
    %5 = scf.if %4 -> (i8) {
      %7 = affine.load %alloc[] : memref<ui8>
      %8 = allo.sign_cast %7 : ui8 to i8
      scf.yield %8 : i8
    } else {
      %7 = affine.load %arg0[2] : memref<4xui8>
      %8 = allo.sign_cast %7 : ui8 to i8
      scf.yield %8 : i8
    }
    %6 = allo.sign_cast %5 : i8 to ui8
    return %6 : ui8
  }
}
