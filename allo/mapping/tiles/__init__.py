"""Tile programs on meshes of cores: the space of mappings, its performance model, search, plans."""
