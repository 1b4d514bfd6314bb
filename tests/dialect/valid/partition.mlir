func.func private @one(memref<8x8xf32, #allo.partition<[cyclic 4, none]>>)
func.func private @all(memref<8x8x8x?xui3, #allo.partition<[block 2, complete, none, cyclic 3]>>)
func.func @use(%arg0: memref<8x8xf32, #allo.partition<[cyclic 4, none]>>) {
  affine.for %arg1 = 0 to 8 {
    %0 = affine.load %arg0[%arg1, %arg1] : memref<8x8xf32, #allo.partition<[cyclic 4, none]>>
    affine.store %0, %arg0[0, %arg1] : memref<8x8xf32, #allo.partition<[cyclic 4, none]>>
  }
  call @one(%arg0) : (memref<8x8xf32, #allo.partition<[cyclic 4, none]>>) -> ()
  return
}
