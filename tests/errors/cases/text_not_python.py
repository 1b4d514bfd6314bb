"""The text of a kernel that is no Python."""

kernel = """
def kernel(A: int32[4]):
    A[0] = = 1
"""
