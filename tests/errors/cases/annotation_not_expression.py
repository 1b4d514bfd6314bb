"""The text of an annotation is no expression."""



def kernel(A: "int32[4"):
    A[0] = 1
