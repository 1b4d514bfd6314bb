module attributes {allo.top = "assigned_argument"} {
  func.func @assigned_argument(%arg0: i32 {allo.name = "n"}) -> i32 {
    %alloc = memref.alloc() {allo.name = "n_1"} : memref<i32>
    affine.store %arg0, %alloc[] : memref<i32>
    scf.while : () -> () {
      %1 = affine.load %alloc[] : memref<i32>
      %c9_i32 = arith.constant 9 : i32
      %2 = arith.cmpi sgt, %1, %c9_i32 : i32
      scf.condition(%2)
    } do {
      %1 = affine.load %alloc[] : memref<i32>
      %c10_i32 = arith.constant 10 : i32
      %2 = arith.floordivsi %1, %c10_i32 : i32
      affine.store %2, %alloc[] : memref<i32>
      scf.yield
    } attributes {allo.name = "while"}
    %0 = affine.load %alloc[] : memref<i32>
    return %0 : i32
  }
}
