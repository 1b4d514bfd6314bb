// What a debug build allocates: arrays of a call that was left before its end are freed with it.
#include "Calls.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#define ALLO_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
constexpr std::size_t kAlignment = 64; // of each array

/// In front of each array, in a line of memory of its own.
struct alignas(kAlignment) Header {
  Header *previous, *next;
};
thread_local Header *last = nullptr;
} // namespace

void mlir::allo::freeAllocated() {
  while (last) {
    Header *before = last->previous;
    std::free(last);
    last = before;
  }
}

// The names are those by which MLIR calls them.
ALLO_EXPORT void *_mlir_memref_to_llvm_aligned_alloc(uint64_t, uint64_t bytes) {
  uint64_t whole = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
  auto *header = static_cast<Header *>(std::aligned_alloc(kAlignment, whole));
  if (!header)
    std::abort();
  *header = {last, nullptr};
  if (last)
    last->next = header;
  last = header;
  return header + 1;
}

ALLO_EXPORT void *_mlir_memref_to_llvm_alloc(uint64_t bytes) {
  return _mlir_memref_to_llvm_aligned_alloc(kAlignment, bytes);
}

ALLO_EXPORT void _mlir_memref_to_llvm_free(void *array) {
  if (!array)
    return;
  Header *header = static_cast<Header *>(array) - 1;
  (header->next ? header->next->previous : last) = header->previous;
  if (header->previous)
    header->previous->next = header->next;
  std::free(header);
}
