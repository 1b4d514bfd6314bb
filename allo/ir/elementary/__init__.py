"""Elementary functions of floats by integers, so that all machines and all hardware give the same bits."""
