"""Lowering of scheduled functions to hardware modules."""
