module {
  func.func @f(%arg0: i1, %arg1: index, %arg2: index) {
    allo.assert %arg0, "it holds"
    allo.assert %arg0, "subscript {0} is not below {1}"(%arg1, %arg2)
    return
  }
}
