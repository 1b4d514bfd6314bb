"""`python -m benchmarks` runs all measurements at their default sizes."""

from benchmarks import compile_time, estimate, layout
from polybench import reproduce_cpu

compile_time.main()
print()
reproduce_cpu.main()
print()
layout.main()
print()
estimate.main()
