"""Importers: programs of other notations and frameworks as kernels."""
