"""`python -m benchmarks` runs all measurements at their default sizes."""

from benchmarks import compile_time, cpu, estimate, layout

compile_time.main()
print()
cpu.main()
print()
layout.main()
print()
estimate.main()
