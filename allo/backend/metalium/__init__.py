"""Projects for TT-Metalium: kernels of cores and the host program of a plan of a tile program."""
