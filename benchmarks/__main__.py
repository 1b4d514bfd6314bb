"""`python -m benchmarks` runs all measurements at their default sizes."""

from benchmarks import compile_time, cpu

compile_time.main()
print()
cpu.main()
