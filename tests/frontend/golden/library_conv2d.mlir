module attributes {allo.top = "library_conv2d"} {
  func.func @library_conv2d(%arg0: memref<1x3x8x8xf32> {allo.name = "X"}, %arg1: memref<4x3x3x3xf32> {allo.name = "W"}) -> memref<1x4x3x3xf32> {
    %alloc = memref.alloc() {allo.name = "library_conv2d_result"} : memref<1x4x3x3xf32>
    %cst = arith.constant 0.000000e+00 : f32
    linalg.fill {allo.loops = "n_init, f_init, oh_init, ow_init", allo.nest = "conv2d_0_init"} ins(%cst : f32) outs(%alloc : memref<1x4x3x3xf32>)
    linalg.conv_2d_nchw_fchw {allo.loops = "n, f, oh, ow, c, kh, kw", allo.nest = "conv2d_0", dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg0, %arg1 : memref<1x3x8x8xf32>, memref<4x3x3x3xf32>) outs(%alloc : memref<1x4x3x3xf32>)
    return %alloc : memref<1x4x3x3xf32>
  }
}
