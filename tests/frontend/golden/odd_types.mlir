module attributes {allo.top = "odd_types"} {
  func.func @odd_types(%arg0: i5 {allo.name = "a"}, %arg1: i1 {allo.name = "b"}, %arg2: bf16 {allo.name = "c"}) -> (i5, i1, bf16) {
    %0 = arith.index_cast %arg0 : i5 to index
    %1 = arith.extsi %arg0 : i5 to i6
    %c1_i6 = arith.constant 1 : i6
    %2 = arith.addi %1, %c1_i6 : i6
    %3 = arith.trunci %2 : i6 to i5
    %true = arith.constant true
    %4 = arith.xori %arg1, %true : i1
    %cst = arith.constant 2.000000e+00 : bf16
    %5 = arith.mulf %arg2, %cst : bf16
    return %3, %4, %5 : i5, i1, bf16
  }
}
