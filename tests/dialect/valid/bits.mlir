func.func @bits(%arg0: ui8, %arg1: index, %arg2: i1, %arg3: memref<4xi8>) {
  %0 = allo.sign_cast %arg0 : ui8 to i8
  %1 = allo.get_bit %0[%arg1] : i8 -> i1
  %2 = allo.set_bit %0[%arg1], %arg2 : i8
  %3 = allo.get_slice %2[%arg1, %arg1] : i8 -> i4
  %4 = allo.set_slice %2[%arg1, %arg1], %3 : i8, i4
  %5 = allo.reverse_bits %4 : i8
  %6 = allo.bitcast %5 : i8 to !allo.ufixed<8, 8>
  %7 = allo.element_cast %arg3 : memref<4xi8> to memref<4x!allo.fixed<8, 4>>
  return
}
