// A kernel that moves data, and the limits that emission keeps, against the headers of the vendor.
#include "internal/firmware_common.h"
#include KERNELS

#include "dev_mem_map.h"
#include "noc_parameters.h"

static_assert(MEM_L1_SIZE == L1_BYTES && MEM_MAP_END < RESERVED);
static_assert(NUM_CIRCULAR_BUFFERS >= BUFFERS);
static_assert(NOC_DRAM_READ_ALIGNMENT_BYTES == READ && NOC_L1_WRITE_ALIGNMENT_BYTES == 16);
