func.func private @f(!allo.fixed<8, 4, round>)
// expected: 1:40: expected a rounding (trn, trn_zero, rnd, rnd_zero, rnd_min_inf, rnd_inf, rnd_conv), then an overflow (wrap, sat, sat_zero, sat_sym), got 'round'
