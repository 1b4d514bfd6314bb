"""Tile programs on meshes of cores: what is read of kernels, and a timed simulator."""
