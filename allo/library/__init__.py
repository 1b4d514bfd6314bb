"""Kernel templates (`systolic`, `nn`, `gemv`), each with a schedule `schedule_<name>`.

The NumPy meaning of each template is the function of the same name in `allo.library.reference`.
"""
