func.func @f(%ok: i1, %i: index) {
  allo.assert %ok, "much"(%i, %i, %i, %i, %i)
  return
}
// expected: 2:3: 'allo.assert' op shows at most 4 values
