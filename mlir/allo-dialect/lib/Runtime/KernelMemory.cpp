// Memory of the arrays that kernels make for themselves: each thread keeps some of it for its next call.
//
// The C library gives large blocks back to the system, which maps them anew, page by page, at the next call.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <malloc.h>

#define ALLO_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
constexpr std::size_t kMostBytes = 16 << 20; // that a thread keeps
constexpr unsigned kMostBlocks = 16;
constexpr std::size_t kLeastBytes = 32 << 10; // the C library keeps what is smaller

/// Blocks that no array is in, the oldest first.
class KeptBlocks {
public:
  ~KeptBlocks() {
    while (count)
      std::free(take(0));
  }

  /// The smallest block that has so many bytes, and not twice as many; null if there is none.
  void *find(std::size_t bytes) {
    unsigned best = count;
    for (unsigned k = 0; k < count; ++k)
      if (blocks[k].bytes >= bytes && blocks[k].bytes / 2 < bytes &&
          (best == count || blocks[k].bytes < blocks[best].bytes))
        best = k;
    return best == count ? nullptr : take(best);
  }

  /// Keeps a block in the place of the oldest ones.
  void keep(void *memory, std::size_t bytes) {
    while (count == kMostBlocks || (count && total + bytes > kMostBytes))
      std::free(take(0));
    blocks[count++] = {memory, bytes};
    total += bytes;
  }

private:
  void *take(unsigned index) {
    Block taken = blocks[index];
    --count;
    for (unsigned k = index; k < count; ++k)
      blocks[k] = blocks[k + 1];
    total -= taken.bytes;
    return taken.memory;
  }

  struct Block {
    void *memory;
    std::size_t bytes;
  };
  Block blocks[kMostBlocks];
  unsigned count = 0;
  std::size_t total = 0;
};
thread_local KeptBlocks kept;

constexpr std::size_t kBlockAlignment = 64;
} // namespace

/// What `std::aligned_alloc` gives.
ALLO_EXPORT void *allo_array_alloc(std::size_t alignment, std::size_t bytes) {
  if (bytes >= kLeastBytes && alignment <= kBlockAlignment)
    if (void *known = kept.find(bytes))
      return known;
  return std::aligned_alloc(alignment, bytes);
}

ALLO_EXPORT void allo_array_free(void *memory) {
  std::size_t bytes = memory ? malloc_usable_size(memory) : 0;
  if (bytes >= kLeastBytes && bytes <= kMostBytes && reinterpret_cast<uintptr_t>(memory) % kBlockAlignment == 0)
    kept.keep(memory, bytes);
  else
    std::free(memory);
}
