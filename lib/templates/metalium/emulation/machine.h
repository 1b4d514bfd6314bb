// Tensix cores of one Wormhole for kernels of TT-Metalium on this machine: L1, circular buffers, semaphores, the NoC.
// All kernels of all cores are fibers of one thread. Reads and writes of the NoC happen as late as they may, at
// barriers, and memory that nobody has written, or that is given back, is full of NaNs: what is missing is seen.
#ifndef ALLO_METALIUM_MACHINE_H
#define ALLO_METALIUM_MACHINE_H

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#define tt_l1_ptr

inline uint8_t noc_index = 0;  // of the kernel that runs; default arguments read it

enum class DataFormat : uint8_t { Float32 = 0, Float16_b = 5, Int32 = 8 };
namespace tt {
using ::DataFormat;
}

namespace emulation {

constexpr uint32_t kL1Base = 0x80000000, kL1Stride = 1 << 21, kL1Size = 1499136, kReserved = 106496;
constexpr uint32_t kSemaphores = 16, kSemaphoreBase = 1024, kBuffers = 32, kArguments = 341, kBanks = 12;
constexpr uint32_t kColumns[8] = {1, 2, 3, 4, 6, 7, 8, 9};  // of the NoC; DRAM is between them
constexpr uint32_t kRows[8] = {1, 2, 3, 5, 7, 8, 10, 11};   // two rows of ten are harvested

struct CircularBuffer {
  uint32_t pages = 0, page = 0, base = 0, received = 0, acked = 0;
  DataFormat format = DataFormat::Float32;
};

struct Core {
  uint32_t x = 0, y = 0, semaphores = 0, used = kReserved;
  CircularBuffer buffers[kBuffers];
  uint32_t l1() const { return kL1Base + (y * 8 + x) * kL1Stride; }
};

struct Transfer {
  uint8_t noc;
  bool is_read;
  std::function<void()> run;
};

struct Kernel {
  std::string name;
  Core* core = nullptr;
  void (*run)() = nullptr;
  uint8_t noc = 0;
  bool both_nocs = false, computes = false, full_registers = false;
  std::vector<uint32_t> arguments;
  ucontext_t context{};
  std::vector<char> stack;
  bool done = false;
  std::function<bool()> ready;  // empty: it can go on
  std::string waits;
  uint32_t waited[kBuffers] = {}, reserved[kBuffers] = {}, packed[kBuffers] = {};
  std::vector<Transfer> transfers;
  bool atomics[2] = {false, false};  // semaphores of other cores may still be on their way, by NoC
};

struct DramBuffer {
  uint32_t address = 0, page = 0, pages = 0;
  std::vector<uint8_t> data;
};

inline std::vector<std::string> buffer_names;
inline std::map<std::pair<uint32_t, uint32_t>, Core> cores;
inline std::vector<std::unique_ptr<Kernel>> kernels;
inline std::map<uint32_t, DramBuffer> dram;
inline Kernel* current = nullptr;
inline ucontext_t scheduler;

inline std::string named(uint32_t buffer) {
  return buffer < buffer_names.size() ? "'" + buffer_names[buffer] + "'" : "circular buffer " + std::to_string(buffer);
}

inline std::string place(const Kernel& kernel) {
  return "core (" + std::to_string(kernel.core->x) + ", " + std::to_string(kernel.core->y) + "), " + kernel.name;
}

[[noreturn]] inline void fail(const std::string& text) {
  std::cerr << (current ? place(*current) + ": " : "") << text << std::endl;
  std::_Exit(2);
}

inline void demand(bool holds, const std::string& text) {
  if (!holds) fail(text);
}

inline void wait_until(std::function<bool()> ready, const std::string& waits) {
  if (ready()) return;
  current->ready = std::move(ready);
  current->waits = waits;
  swapcontext(&current->context, &scheduler);
}

inline std::string s(uint64_t value) { return std::to_string(value); }

/// Maps L1 of all cores to addresses of 32 bits, where kernels can use them as pointers; full of NaNs.
inline void map_l1() {
  void* wanted = reinterpret_cast<void*>(static_cast<uintptr_t>(kL1Base));
  const size_t bytes = size_t(64) * kL1Stride;
  void* given = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                     -1, 0);
  if (given != wanted) fail("the addresses of L1 are taken on this machine");
}

inline uint8_t* memory(uint32_t address) { return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address)); }

/// The offset in L1 of a local address of `bytes` bytes, which must be in a circular buffer or a semaphore.
inline uint32_t offset_in_l1(uint32_t address, uint32_t bytes, const Core& core, const char* what) {
  const uint32_t offset = (address - kL1Base) % kL1Stride;
  const bool semaphore = offset >= kSemaphoreBase && offset + bytes <= kSemaphoreBase + 16 * core.semaphores;
  const bool buffer = offset >= kReserved && offset + bytes <= core.used;
  demand(address >= kL1Base && (semaphore || buffer),
         std::string(what) + " " + s(bytes) + " bytes at " + s(offset) + " of L1 of core (" + s(core.x) + ", " + s(core.y) +
             "), where no circular buffer and no semaphore is");
  return offset;
}

inline Core& core_at(uint32_t noc_x, uint32_t noc_y) {
  for (uint32_t x = 0; x < 8; ++x) {
    for (uint32_t y = 0; y < 8; ++y) {
      if (kColumns[x] == noc_x && kRows[y] == noc_y) {
        auto found = cores.find({x, y});
        demand(found != cores.end(), "a transfer goes to core (" + s(x) + ", " + s(y) + "), which has no program");
        return found->second;
      }
    }
  }
  fail("a transfer goes to (" + s(noc_x) + ", " + s(noc_y) + ") of the NoC, where no Tensix core is");
}

inline CircularBuffer& buffer_of(uint32_t number) {
  demand(number < kBuffers && current->core->buffers[number].pages, "there is no " + named(number));
  return current->core->buffers[number];
}

inline uint8_t* page_of(uint32_t number, uint32_t index, bool front) {
  CircularBuffer& b = buffer_of(number);
  const uint32_t first = (front ? b.acked : b.received) % b.pages;
  demand(first + index < b.pages, "tile " + s(index) + " is behind the end of " + named(number));
  return memory(current->core->l1() + b.base + (first + index) * b.page);
}

/// Runs all kernels until they end; `seed` decides who is next. Fails if none can go on.
inline void run_all(uint32_t seed) {
  std::vector<Kernel*> left;
  for (auto& kernel : kernels) {
    kernel->stack.resize(256 << 10);
    getcontext(&kernel->context);
    kernel->context.uc_stack.ss_sp = kernel->stack.data();
    kernel->context.uc_stack.ss_size = kernel->stack.size();
    kernel->context.uc_link = &scheduler;
    makecontext(&kernel->context, [] {
      current->run();
      demand(current->transfers.empty(), "the kernel ends while transfers of the NoC are under way: a barrier is missing");
      demand(!current->atomics[0] && !current->atomics[1],
             "the kernel ends while semaphores are increased: noc_async_atomic_barrier is missing");
      current->done = true;
    }, 0);
    left.push_back(kernel.get());
  }
  while (!left.empty()) {
    bool moved = false;
    for (size_t k = left.size(); k-- > 1;) {
      seed = seed * 1664525u + 1013904223u;
      std::swap(left[k], left[(seed >> 8) % (k + 1)]);
    }
    for (Kernel* kernel : left) {
      if (kernel->ready && !kernel->ready()) continue;
      kernel->ready = nullptr;
      current = kernel;
      noc_index = kernel->noc;
      swapcontext(&scheduler, &kernel->context);
      current = nullptr;
      moved = true;
    }
    left.erase(std::remove_if(left.begin(), left.end(), [](Kernel* kernel) { return kernel->done; }), left.end());
    if (moved) continue;
    std::sort(left.begin(), left.end(), [](Kernel* a, Kernel* b) { return place(*a) < place(*b); });
    std::string text = "deadlock: " + s(left.size()) + " kernels wait for ever";
    for (size_t k = 0; k < left.size() && k < 12; ++k) text += "\n    " + place(*left[k]) + " waits for " + left[k]->waits;
    fail(text);
  }
}

}  // namespace emulation

// What both kinds of kernels call.
template <typename T>
inline T get_arg_val(int index) {
  using namespace emulation;
  demand(index >= 0 && size_t(index) < current->arguments.size(), "argument " + s(index) + " was not given");
  return static_cast<T>(current->arguments[index]);
}

inline void cb_reserve_back(uint32_t number, uint32_t pages) {
  using namespace emulation;
  CircularBuffer& b = buffer_of(number);
  demand(pages <= b.pages, s(pages) + " tiles are reserved in " + named(number) + ", which has " + s(b.pages));
  wait_until([&b, pages] { return b.pages - (b.received - b.acked) >= pages; },
             "room for " + s(pages) + " tiles in " + named(number) + ", which has " + s(b.pages) + " and holds " +
                 s(b.received - b.acked));
  current->reserved[number] = std::max(current->reserved[number], pages);
}

inline void cb_push_back(uint32_t number, uint32_t pages) {
  using namespace emulation;
  CircularBuffer& b = buffer_of(number);
  demand(pages <= current->reserved[number],
         s(pages) + " tiles are pushed to " + named(number) + ", in which " + s(current->reserved[number]) + " are reserved");
  demand(b.received % b.pages + pages <= b.pages, "tiles are pushed beyond the end of " + named(number));
  current->reserved[number] -= pages;
  current->packed[number] = 0;
  b.received += pages;
}

inline void cb_wait_front(uint32_t number, uint32_t pages) {
  using namespace emulation;
  CircularBuffer& b = buffer_of(number);
  demand(pages <= b.pages, s(pages) + " tiles are waited for in " + named(number) + ", which has " + s(b.pages));
  wait_until([&b, pages] { return b.received - b.acked >= pages; },
             s(pages) + " tiles in " + named(number) + ", which holds " + s(b.received - b.acked));
  current->waited[number] = std::max(current->waited[number], pages);
}

inline void cb_pop_front(uint32_t number, uint32_t pages) {
  using namespace emulation;
  CircularBuffer& b = buffer_of(number);
  demand(pages <= current->waited[number],
         s(pages) + " tiles are popped of " + named(number) + ", of which " + s(current->waited[number]) + " were waited for");
  current->waited[number] -= pages;
  std::memset(page_of(number, 0, true), 0xff, size_t(pages) * b.page);
  b.acked += pages;
}

#endif
