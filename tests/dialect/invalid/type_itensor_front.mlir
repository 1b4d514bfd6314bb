func.func private @f(!allo.itensor<1x1xf32, [4] * [1], (d0) -> (d0, -d0 + 1)>)
// expected: 1:35: an itensor begins in front of the array: the least subscript in dimension 1 is -2
