"""Texts of kernels: where they come from, and what their templates stand for."""
