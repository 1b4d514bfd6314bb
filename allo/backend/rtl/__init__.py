"""SystemVerilog of our own: the library of modules, and cycle-accurate simulation."""
