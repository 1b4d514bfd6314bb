module attributes {allo.top = "fixed_point"} {
  func.func @fixed_point(%arg0: f32 {allo.name = "a"}, %arg1: i8 {allo.name = "n"}) -> f32 {
    %0 = arith.index_cast %arg1 : i8 to index
    %1 = allo.fixed_cast %arg0 : f32 to !allo.fixed<16, 8>
    %alloc = memref.alloc() {allo.name = "x"} : memref<!allo.fixed<16, 8>>
    affine.store %1, %alloc[] : memref<!allo.fixed<16, 8>>
    %2 = affine.load %alloc[] : memref<!allo.fixed<16, 8>>
    %3 = allo.fixed_cast %arg1 : i8 to !allo.fixed<8, 0>
    %4 = allo.fixed_mul %2, %3 : !allo.fixed<16, 8>, !allo.fixed<8, 0>
    %5 = allo.fixed_cast %4 : !allo.fixed<24, 8> to f32
    %cst = arith.constant 5.000000e-01 : f32
    %6 = arith.addf %5, %cst : f32
    return %6 : f32
  }
}
