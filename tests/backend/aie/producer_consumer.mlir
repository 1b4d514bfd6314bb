module {
  aie.device(npu1) {
    %tile_0_0 = aie.tile(0, 0)
    %tile_0_2 = aie.tile(0, 2)
    %tile_0_3 = aie.tile(0, 3)
    aie.objectfifo @A_0(%tile_0_0, {%tile_0_2}, 1 : i32) : !aie.objectfifo<memref<32x16xi32>>
    aie.objectfifo @B_out_0(%tile_0_3, {%tile_0_0}, 1 : i32) : !aie.objectfifo<memref<32x16xi32>>
    aie.objectfifo @pipe(%tile_0_2, {%tile_0_3}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    // @A_0: to the array by shim tile (0, 0), 1 object
    // @B_out_0: from the array by shim tile (0, 0), 1 object
    %core_0_2_row_0 = aie.buffer(%tile_0_2) {sym_name = "core_0_2_row_0"} : memref<16xi32>
    %core_producer_0 = aie.core(%tile_0_2) {
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %c0 = arith.constant 0 : index
      %c2147483647 = arith.constant 2147483647 : index
      %c1 = arith.constant 1 : index
      scf.for %arg1 = %c0 to %c2147483647 step %c1 {
        %0 = "aie.objectfifo.acquire"() {objFifo_name = @A_0, port = 1 : i32, size = 1 : i32} : () -> !aie.objectfifosubview<memref<32x16xi32>>
        %1 = "aie.objectfifo.subview.access"(%0) {index = 0 : i32} : (!aie.objectfifosubview<memref<32x16xi32>>) -> memref<32x16xi32>
        scf.for %arg2 = %c0 to %c32 step %c1 {
          scf.for %arg3 = %c0 to %c16 step %c1 {
            %4 = memref.load %1[%arg2, %arg3] : memref<32x16xi32>
            memref.store %4, %core_0_2_row_0[%arg3] : memref<16xi32>
          }
          %2 = "aie.objectfifo.acquire"() {objFifo_name = @pipe, port = 0 : i32, size = 1 : i32} : () -> !aie.objectfifosubview<memref<16xi32>>
          %3 = "aie.objectfifo.subview.access"(%2) {index = 0 : i32} : (!aie.objectfifosubview<memref<16xi32>>) -> memref<16xi32>
          scf.for %arg3 = %c0 to %c16 step %c1 {
            %4 = memref.load %core_0_2_row_0[%arg3] : memref<16xi32>
            memref.store %4, %3[%arg3] : memref<16xi32>
          }
          "aie.objectfifo.release"() {objFifo_name = @pipe, port = 0 : i32, size = 1 : i32} : () -> ()
        }
        "aie.objectfifo.release"() {objFifo_name = @A_0, port = 1 : i32, size = 1 : i32} : () -> ()
      }
      aie.end
    }
    %core_0_3_pipe_block_0 = aie.buffer(%tile_0_3) {sym_name = "core_0_3_pipe_block_0"} : memref<16xi32>
    %core_consumer_0 = aie.core(%tile_0_3) {
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %c1_i32 = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      %c2147483647 = arith.constant 2147483647 : index
      %c1 = arith.constant 1 : index
      scf.for %arg1 = %c0 to %c2147483647 step %c1 {
        %0 = "aie.objectfifo.acquire"() {objFifo_name = @B_out_0, port = 0 : i32, size = 1 : i32} : () -> !aie.objectfifosubview<memref<32x16xi32>>
        %1 = "aie.objectfifo.subview.access"(%0) {index = 0 : i32} : (!aie.objectfifosubview<memref<32x16xi32>>) -> memref<32x16xi32>
        scf.for %arg2 = %c0 to %c32 step %c1 {
          %2 = "aie.objectfifo.acquire"() {objFifo_name = @pipe, port = 1 : i32, size = 1 : i32} : () -> !aie.objectfifosubview<memref<16xi32>>
          %3 = "aie.objectfifo.subview.access"(%2) {index = 0 : i32} : (!aie.objectfifosubview<memref<16xi32>>) -> memref<16xi32>
          scf.for %arg3 = %c0 to %c16 step %c1 {
            %4 = memref.load %3[%arg3] : memref<16xi32>
            memref.store %4, %core_0_3_pipe_block_0[%arg3] : memref<16xi32>
          }
          "aie.objectfifo.release"() {objFifo_name = @pipe, port = 1 : i32, size = 1 : i32} : () -> ()
          scf.for %arg3 = %c0 to %c16 step %c1 {
            %4 = memref.load %core_0_3_pipe_block_0[%arg3] : memref<16xi32>
            %5 = arith.addi %4, %c1_i32 : i32
            memref.store %5, %1[%arg2, %arg3] : memref<32x16xi32>
          }
        }
        "aie.objectfifo.release"() {objFifo_name = @B_out_0, port = 0 : i32, size = 1 : i32} : () -> ()
      }
      aie.end
    }
    aie.runtime_sequence(%A: memref<512xi32>, %B: memref<512xi32>) {
      aiex.npu.dma_memcpy_nd(%B[0, 0, 0, 0][1, 1, 1, 512][0, 0, 0, 1]) {id = 0 : i64, metadata = @B_out_0, issue_token = true} : memref<512xi32>
      aiex.npu.dma_memcpy_nd(%A[0, 0, 0, 0][1, 1, 1, 512][0, 0, 0, 1]) {id = 1 : i64, metadata = @A_0} : memref<512xi32>
      aiex.npu.dma_wait {symbol = @B_out_0}
    }
  }
}
