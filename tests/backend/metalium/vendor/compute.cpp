// A kernel that computes, against the headers of the vendor: calls alone, or with what the unpacking thread does.
#include "chlkc_descriptors.h"
#include "internal/firmware_common.h"
#include "ckernel.h"
using namespace ckernel;
#include KERNELS
