func.func @f(%x: !allo.struct<{a: i8}>) {
  %z = allo.fixed_cast %x : !allo.struct<{a: i8}> to !allo.fixed<8, 4>
  return
}
// expected: 2:8: 'allo.fixed_cast' op does not convert structs, got '!allo.struct<{a: i8}>'; use allo.bitcast
