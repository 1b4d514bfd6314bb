allo.schedule {
  %0 = allo.loop "f" "S_i_0.i"
  %1 = allo.buffer "f" "A"
  %split:2 = allo.step "split"(%0) {factor = 4 : i32}
  allo.step "reorder"(%split#1, %split#0)
  %buffer_at = allo.step "buffer_at"(%1, %split#1) {values = ["a"]}
  allo.step "of a user"() attributes {allo.x_note = "why"}
  allo.step "partition"(%buffer_at) {dim = 1 : i32, primitive = "Cyclic"}
}
