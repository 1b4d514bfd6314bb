"""An array is declared by a list without elements."""


def kernel():
    B = []
