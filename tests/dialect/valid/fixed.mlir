func.func @fixed(%arg0: !allo.fixed<8, 4>, %arg1: !allo.ufixed<6, 2>, %arg2: f32, %arg3: index, %arg4: ui5) {
  %0 = allo.fixed_constant -24 : !allo.fixed<8, 4>
  %1 = allo.fixed_constant 63 : !allo.ufixed<6, 2>
  %2 = allo.fixed_add %arg0, %0 : !allo.fixed<8, 4>
  %3 = allo.fixed_sub %arg1, %1 : !allo.ufixed<6, 2>
  %4 = allo.fixed_mul %2, %3 : !allo.fixed<8, 4>, !allo.ufixed<6, 2>
  %5 = allo.fixed_div %2, %2 : !allo.fixed<8, 4>, !allo.fixed<8, 4>
  %6 = allo.fixed_neg %arg0 : !allo.fixed<8, 4>
  %7 = allo.fixed_cmp le, %6, %arg0 : !allo.fixed<8, 4>
  %8 = allo.fixed_cast %4 : !allo.fixed<14, 6> to !allo.fixed<8, 4>
  %9 = allo.fixed_cast %arg2 : f32 to !allo.ufixed<8, 4, rnd, sat>
  %10 = allo.fixed_cast %arg3 : index to !allo.fixed<8, 4>
  %11 = allo.fixed_cast %arg4 : ui5 to !allo.fixed<8, 4>
  %12 = allo.fixed_cast %8 : !allo.fixed<8, 4> to f16
  %13 = allo.fixed_cast %9 : !allo.ufixed<8, 4, rnd, sat> to !allo.fixed<6, 2, rnd_conv>
  %14 = allo.fixed_cast %13 : !allo.fixed<6, 2, rnd_conv> to !allo.fixed<4, 2, sat_sym>
  return
}
