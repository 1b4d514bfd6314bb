# How the schedule lays out arrays, and the depths of its channels
directive set /gemm/B:rsc -INTERLEAVE 4
