"""Typed syntax trees: their nodes, the rules of their types, and what is built of typed values."""
