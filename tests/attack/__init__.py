"""Random kernels, schedules, inputs and faults, and the doors at which their results are compared."""
