module attributes {allo.top = "elementary"} {
  func.func @elementary(%arg0: f32 {allo.name = "x"}) -> f32 {
    %0 = math.exp %arg0 : f32
    %1 = math.absf %arg0 : f32
    %2 = arith.addf %0, %1 : f32
    return %2 : f32
  }
}
