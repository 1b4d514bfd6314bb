"""Static traces: puts and gets of a module, with the cycles of its control trees, without data."""
