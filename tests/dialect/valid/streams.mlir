func.func @streams(%arg0: memref<4x!allo.stream<ui8, 2>>, %arg1: ui8, %arg2: index) {
  %0 = allo.stream_create {allo.name = "pipe"} : !allo.stream<ui8, 4>
  allo.stream_put %0, %arg1 : !allo.stream<ui8, 4>
  %1 = allo.stream_get %0 : !allo.stream<ui8, 4>
  %2 = allo.stream_empty %0 : !allo.stream<ui8, 4>
  %3 = allo.stream_full %0 : !allo.stream<ui8, 4>
  %value, %done = allo.stream_try_get %0 : !allo.stream<ui8, 4>
  %4 = allo.stream_try_put %0, %value : !allo.stream<ui8, 4>
  %5 = allo.stream_peek %0 : !allo.stream<ui8, 4>
  %6 = memref.load %arg0[%arg2] : memref<4x!allo.stream<ui8, 2>>
  allo.stream_put %6, %1 : !allo.stream<ui8, 2>
  return
}
