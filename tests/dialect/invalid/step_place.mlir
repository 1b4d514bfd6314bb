allo.step "split"()
// expected: 1:1: 'allo.step' op expects parent op 'allo.schedule'
