allo.schedule {
  allo.step "split"(%i)
}
// expected: 2:21: use of undeclared SSA value name
