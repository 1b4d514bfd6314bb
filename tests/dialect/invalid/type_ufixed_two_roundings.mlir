func.func private @f(!allo.ufixed<8, 4, rnd, trn>)
// expected: 1:46: expected a rounding (trn, trn_zero, rnd, rnd_zero, rnd_min_inf, rnd_inf, rnd_conv), then an overflow (wrap, sat, sat_zero, sat_sym), got 'trn'
