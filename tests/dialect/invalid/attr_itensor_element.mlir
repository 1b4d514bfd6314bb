func.func @f() {
  %0 = allo.stream_create {allo.itensor = !allo.itensor<1xi8, [4] * [1], (d0) -> (d0)>} : !allo.stream<ui8, 4>
  return
}
// expected: 2:8: 'allo.stream_create' op the elements of 'allo.itensor' are 'i8', but those of the stream 'ui8'
