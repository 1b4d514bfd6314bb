"""External kernels: functions of C++ that Python and kernels call as they call kernels."""
