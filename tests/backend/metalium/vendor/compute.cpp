// A kernel that computes, against the headers of the vendor: what its threads do is left out, calls are checked.
#include "internal/firmware_common.h"
#include "ckernel.h"
using namespace ckernel;
#include KERNELS

