func.func @f(%x: !allo.fixed<8, 4>) {
  %z = allo.fixed_cmp less, %x, %x : !allo.fixed<8, 4>
  return
}
// expected: 2:23: custom op 'allo.fixed_cmp' expected string or keyword containing one of the following enum values for attribute 'predicate' [eq, ne, lt, le, gt, ge]
