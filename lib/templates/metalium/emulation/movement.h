// The dataflow interface of TT-Metalium for kernels that move data, on machine.h.
#ifndef ALLO_METALIUM_MOVEMENT_H
#define ALLO_METALIUM_MOVEMENT_H

#include "machine.h"

namespace emulation {

inline void demand_mover(uint8_t noc) {
  demand(!current->computes, "a compute kernel has no NoC");
  demand(noc < 2 && (noc == current->noc || current->both_nocs),
         "the kernel uses NoC " + s(noc) + ", and was made for NoC " + s(current->noc) + " only");
}

inline void begin(uint8_t noc, bool is_read, std::function<void()> run) {
  demand_mover(noc);
  current->transfers.push_back({noc, is_read, std::move(run)});
}

inline void finish(uint8_t noc, bool is_read) {
  demand_mover(noc);
  auto& all = current->transfers;
  for (Transfer& one : all)
    if (one.noc == noc && one.is_read == is_read) one.run();
  all.erase(std::remove_if(all.begin(), all.end(), [&](Transfer& t) { return t.noc == noc && t.is_read == is_read; }),
            all.end());
}

struct Rectangle {
  std::vector<Core*> cores;
  uint32_t address;
};

/// The cores of a multicast but for the one that sends; their number must be what the kernel says.
inline Rectangle rectangle(uint64_t to, uint32_t count, uint8_t noc) {
  uint32_t x0 = to >> 32 & 255, y0 = to >> 40 & 255, x1 = to >> 48 & 255, y1 = to >> 56;
  demand(x1 != 255, "a multicast goes to the address of one core");
  if (noc == 1) std::swap(x0, x1), std::swap(y0, y1);
  demand(x0 <= x1 && y0 <= y1, "a multicast on NoC " + s(noc) + " goes to a rectangle whose corners are swapped");
  Rectangle made{{}, static_cast<uint32_t>(to)};
  for (uint32_t x : kColumns)
    for (uint32_t y : kRows)
      if (x >= x0 && x <= x1 && y >= y0 && y <= y1)
        if (Core* core = &core_at(x, y); core != current->core) made.cores.push_back(core);
  demand(made.cores.size() == count,
         "a multicast says that it reaches " + s(count) + " cores, and reaches " + s(made.cores.size()));
  return made;
}

}  // namespace emulation

inline uint32_t get_write_ptr(uint32_t number) {
  auto& b = emulation::buffer_of(number);
  return emulation::current->core->l1() + b.base + b.received % b.pages * b.page;
}

inline uint32_t get_read_ptr(uint32_t number) {
  auto& b = emulation::buffer_of(number);
  emulation::demand(emulation::current->waited[number] > 0, "tiles of " + emulation::named(number) + " were not waited for");
  return emulation::current->core->l1() + b.base + b.acked % b.pages * b.page;
}

inline uint32_t get_semaphore(uint32_t number) {
  using namespace emulation;
  demand(number < current->core->semaphores, "there is no semaphore " + s(number));
  return current->core->l1() + kSemaphoreBase + 16 * number;
}

inline uint64_t get_noc_addr(uint32_t x, uint32_t y, uint32_t address, uint8_t = noc_index) {
  return uint64_t(0xffff) << 48 | uint64_t(y) << 40 | uint64_t(x) << 32 | address;
}

inline uint64_t get_noc_multicast_addr(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1, uint32_t address,
                                       uint8_t = noc_index) {
  return uint64_t(y1) << 56 | uint64_t(x1) << 48 | uint64_t(y0) << 40 | uint64_t(x0) << 32 | address;
}

template <bool DRAM>
struct InterleavedAddrGenFast {
  uint32_t bank_base_address, page_size;
  DataFormat data_format;
  uint8_t* page(uint32_t id) const {
    using namespace emulation;
    auto found = dram.find(bank_base_address);
    demand(found != dram.end(), "there is no buffer at address " + s(bank_base_address) + " of DRAM");
    DramBuffer& buffer = found->second;
    demand(buffer.page == page_size && page_size == (data_format == DataFormat::Float16_b ? 2048u : 4096u),
           "pages of " + s(page_size) + " bytes are asked of a buffer with pages of " + s(buffer.page));
    demand(id < buffer.pages, "page " + s(id) + " is asked of a buffer with " + s(buffer.pages) + " pages");
    return buffer.data.data() + size_t(id) * page_size;
  }
};

/// Pages of any size, such as rows; an address is that of the byte on this machine, with the highest bit set.
template <bool DRAM>
struct InterleavedAddrGen {
  uint32_t bank_base_address, page_size;
  uint64_t get_noc_addr(uint32_t id, uint32_t offset = 0, uint8_t = noc_index) const {
    using namespace emulation;
    auto found = dram.find(bank_base_address);
    demand(found != dram.end(), "there is no buffer at address " + s(bank_base_address) + " of DRAM");
    DramBuffer& buffer = found->second;
    demand(buffer.page == page_size, "pages of " + s(page_size) + " bytes are asked of a buffer with pages of " + s(buffer.page));
    demand(id < buffer.pages, "page " + s(id) + " is asked of a buffer with " + s(buffer.pages) + " pages");
    demand(offset < page_size, "byte " + s(offset) + " is asked of a page with " + s(page_size));
    return uint64_t(1) << 63 | reinterpret_cast<uintptr_t>(buffer.data.data() + size_t(id) * page_size + offset);
  }
};

inline void noc_async_read(uint64_t from, uint32_t to, uint32_t size, uint8_t noc = noc_index) {
  using namespace emulation;
  demand(from >> 63, "a read asks for bytes of another core");
  const uint8_t* source = reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(from & ~(uint64_t(1) << 63)));
  for (const auto& entry : dram) {
    const DramBuffer& buffer = entry.second;
    if (source < buffer.data.data() || source >= buffer.data.data() + buffer.data.size()) continue;
    const uint32_t offset = (source - buffer.data.data()) % buffer.page;
    demand(offset + size <= buffer.page, "a read of " + s(size) + " bytes goes beyond the end of a page");
    demand(offset % 32 == to % 32, "a read of DRAM brings bytes from " + s(offset % 32) + " to " + s(to % 32) + " of 32 bytes");
  }
  offset_in_l1(to, size, *current->core, "a read of DRAM brings");
  begin(noc, true, [source, to, size] { std::memcpy(memory(to), source, size); });
}

inline void noc_async_read_page(uint32_t id, const InterleavedAddrGenFast<true>& from, uint32_t to, uint32_t = 0,
                                uint8_t noc = noc_index) {
  using namespace emulation;
  offset_in_l1(to, from.page_size, *current->core, "a read of DRAM brings");
  demand(to % 32 == 0, "a read of DRAM goes to an address that is no multiple of 32");
  begin(noc, true, [page = from.page(id), to, size = from.page_size] { std::memcpy(memory(to), page, size); });
}

inline void noc_async_write_page(uint32_t id, const InterleavedAddrGenFast<true>& to, uint32_t from, uint32_t = 0,
                                 uint32_t = 0, uint8_t noc = noc_index) {
  using namespace emulation;
  offset_in_l1(from, to.page_size, *current->core, "a write to DRAM takes");
  demand(from % 16 == 0, "a write takes bytes of an address that is no multiple of 16");
  begin(noc, false, [page = to.page(id), from, size = to.page_size] { std::memcpy(page, memory(from), size); });
}

inline void noc_async_write(uint32_t from, uint64_t to, uint32_t size, uint8_t noc = noc_index) {
  using namespace emulation;
  Core& core = core_at(to >> 32 & 255, to >> 40 & 255);
  offset_in_l1(from, size, *current->core, "a write takes");
  const uint32_t place = core.l1() + offset_in_l1(static_cast<uint32_t>(to), size, core, "a write brings");
  demand(place % 16 == from % 16, "a write goes from " + s(from % 16) + " to " + s(place % 16) + " of 16 bytes");
  begin(noc, false, [place, from, size] { std::memcpy(memory(place), memory(from), size); });
}

inline void noc_async_write_multicast(uint32_t from, uint64_t to, uint32_t size, uint32_t count, bool = false,
                                      uint8_t noc = noc_index) {
  using namespace emulation;
  offset_in_l1(from, size, *current->core, "a multicast takes");
  demand(static_cast<uint32_t>(to) % 16 == from % 16, "a multicast changes the place in 16 bytes");
  for (Core* core : rectangle(to, count, noc).cores) {
    const uint32_t place = core->l1() + offset_in_l1(static_cast<uint32_t>(to), size, *core, "a multicast brings");
    begin(noc, false, [place, from, size] { std::memcpy(memory(place), memory(from), size); });
  }
}

inline void noc_async_read_barrier(uint8_t noc = noc_index) { emulation::finish(noc, true); }
inline void noc_async_write_barrier(uint8_t noc = noc_index) { emulation::finish(noc, false); }

inline std::string semaphore_name(volatile uint32_t* address) {
  using namespace emulation;
  const uint32_t offset = (static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)) - kL1Base) % kL1Stride;
  return "semaphore " + s((offset - kSemaphoreBase) / 16);
}

inline void noc_semaphore_set(volatile tt_l1_ptr uint32_t* address, uint32_t value) { *address = value; }

inline void noc_semaphore_wait(volatile tt_l1_ptr uint32_t* address, uint32_t value) {
  using namespace emulation;
  wait_until([address, value] { return *address == value; },
             semaphore_name(address) + " to be " + s(value) + ", which is " + s(*address));
}

inline void noc_semaphore_wait_min(volatile tt_l1_ptr uint32_t* address, uint32_t value) {
  using namespace emulation;
  wait_until([address, value] { return *address >= value; },
             semaphore_name(address) + " to be at least " + s(value) + ", which is " + s(*address));
}

inline void noc_semaphore_inc(uint64_t to, uint32_t by, uint8_t noc = noc_index) {
  using namespace emulation;
  demand_mover(noc);
  Core& core = core_at(to >> 32 & 255, to >> 40 & 255);
  const uint32_t place = core.l1() + offset_in_l1(static_cast<uint32_t>(to), 4, core, "a semaphore is increased:");
  *reinterpret_cast<uint32_t*>(memory(place)) += by;
  current->atomics[noc] = true;
}

inline void noc_async_atomic_barrier(uint8_t noc = noc_index) {
  emulation::demand_mover(noc);
  emulation::current->atomics[noc] = false;
}

inline void noc_semaphore_set_multicast(uint32_t from, uint64_t to, uint32_t count, bool = false,
                                        uint8_t noc = noc_index) {
  noc_async_write_multicast(from, to, 4, count, false, noc);
}

#endif
