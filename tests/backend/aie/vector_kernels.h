#define EPSILON 1e-6f
