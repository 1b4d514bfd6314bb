module attributes {allo.top = "bits"} {
  func.func @bits(%arg0: ui8 {allo.name = "x"}) -> ui8 {
    %0 = allo.sign_cast %arg0 : ui8 to i8
    %1 = arith.index_castui %0 : i8 to index
    %alloc = memref.alloc() {allo.name = "y"} : memref<ui8>
    %2 = allo.sign_cast %0 : i8 to ui8
    affine.store %2, %alloc[] : memref<ui8>
    %3 = affine.load %alloc[] : memref<ui8>
    %4 = allo.sign_cast %3 : ui8 to i8
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c4_0 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %5 = allo.get_slice %0[%c4_0, %c0] : i8 -> i4
    %6 = allo.set_slice %4[%c8, %c4], %5 : i8, i4
    %7 = allo.sign_cast %6 : i8 to ui8
    affine.store %7, %alloc[] : memref<ui8>
    %8 = affine.load %alloc[] : memref<ui8>
    %9 = allo.sign_cast %8 : ui8 to i8
    %c0_1 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    %10 = allo.get_bit %0[%c7] : i8 -> i1
    %11 = allo.set_bit %9[%c0_1], %10 : i8
    %12 = allo.sign_cast %11 : i8 to ui8
    affine.store %12, %alloc[] : memref<ui8>
    %13 = affine.load %alloc[] : memref<ui8>
    %14 = allo.sign_cast %13 : ui8 to i8
    %15 = allo.reverse_bits %14 : i8
    %16 = allo.sign_cast %15 : i8 to ui8
    return %16 : ui8
  }
}
