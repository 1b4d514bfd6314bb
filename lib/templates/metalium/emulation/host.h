// The host interface of TT-Metalium, as far as emitted programs use it: programs, buffers, one device.
#ifndef ALLO_METALIUM_HOST_H
#define ALLO_METALIUM_HOST_H

#include "compute.h"
#include "movement.h"

namespace emulation {
struct KernelText {
  const char* path;
  void (*run)();
};
inline std::vector<KernelText> texts;
inline uint32_t seed = 0;
}  // namespace emulation

namespace tt::tt_metal {

struct CoreCoord {
  size_t x = 0, y = 0;
  CoreCoord() = default;
  CoreCoord(size_t x_, size_t y_) : x(x_), y(y_) {}
};
struct CoreRange {
  CoreCoord first, last;
  CoreRange(CoreCoord a, CoreCoord b) : first(a), last(b) {}
};
struct CoreRangeSet {
  std::vector<CoreRange> ranges;
  explicit CoreRangeSet(std::vector<CoreRange> all) : ranges(std::move(all)) {}
  template <typename F>
  void each(F apply) const {
    for (const CoreRange& range : ranges)
      for (size_t y = range.first.y; y <= range.last.y; ++y)
        for (size_t x = range.first.x; x <= range.last.x; ++x) {
          emulation::demand(x < 8 && y < 8, "core (" + std::to_string(x) + ", " + std::to_string(y) + ") is not on the grid");
          emulation::Core& core = emulation::cores[{uint32_t(x), uint32_t(y)}];
          core.x = uint32_t(x), core.y = uint32_t(y);
          apply(core);
        }
  }
};

enum class BufferType { DRAM };
enum class DataMovementProcessor { RISCV_0, RISCV_1 };
enum class NOC : uint8_t { NOC_0, NOC_1 };
enum class NOC_MODE : uint8_t { DM_DEDICATED_NOC, DM_DYNAMIC_NOC };
enum class MathFidelity { HiFi4 };

struct DataMovementConfig {
  DataMovementProcessor processor = DataMovementProcessor::RISCV_0;
  NOC noc = NOC::NOC_0;
  NOC_MODE noc_mode = NOC_MODE::DM_DEDICATED_NOC;
};
struct ComputeConfig {
  MathFidelity math_fidelity = MathFidelity::HiFi4;
  bool fp32_dest_acc_en = false, dst_full_sync_en = false;
};

class CircularBufferConfig {
 public:
  CircularBufferConfig(uint32_t bytes, std::map<uint8_t, DataFormat> formats) : bytes_(bytes), formats_(std::move(formats)) {}
  CircularBufferConfig& set_page_size(uint8_t number, uint32_t page) {
    number_ = number, page_ = page;
    return *this;
  }
  uint32_t bytes_, page_ = 0;
  uint8_t number_ = 0;
  std::map<uint8_t, DataFormat> formats_;
};

struct Program {};
using KernelHandle = size_t;

inline Program CreateProgram() { return {}; }

inline void CreateCircularBuffer(Program&, const CoreRangeSet& cores, const CircularBufferConfig& config) {
  using namespace emulation;
  demand(config.number_ < kBuffers, "circular buffer " + s(config.number_) + " does not exist: there are 32");
  const DataFormat format = config.formats_.at(config.number_);
  demand(config.page_ == (format == DataFormat::Float16_b ? 2048u : 4096u), "a page of " + named(config.number_) + " is no tile");
  demand(config.bytes_ > 0 && config.bytes_ % config.page_ == 0, "the size of " + named(config.number_) + " is no number of pages");
  cores.each([&](Core& core) {
    CircularBuffer& b = core.buffers[config.number_];
    demand(b.pages == 0, named(config.number_) + " is made twice");
    b.pages = config.bytes_ / config.page_, b.page = config.page_, b.base = core.used, b.format = format;
    core.used += config.bytes_;
    demand(core.used <= kL1Size, "circular buffers take " + s(core.used - kReserved) + " bytes of a core, which has " +
                                     s(kL1Size - kReserved));
    std::memset(memory(core.l1() + b.base), 0xff, config.bytes_);
  });
}

inline uint32_t CreateSemaphore(Program&, const CoreRangeSet& cores, uint32_t value) {
  using namespace emulation;
  uint32_t number = 0;
  cores.each([&](Core& core) {
    demand(core.semaphores < kSemaphores, "a core has 16 semaphores");
    number = core.semaphores++;
    *reinterpret_cast<uint32_t*>(memory(core.l1() + kSemaphoreBase + 16 * number)) = value;
  });
  return number;
}

inline std::vector<std::vector<emulation::Kernel*>> handles;

template <typename F>
KernelHandle make_kernel(const std::string& path, const CoreRangeSet& cores, F configure) {
  using namespace emulation;
  const KernelText* text = nullptr;
  for (const KernelText& known : texts)
    if (path == known.path) text = &known;
  demand(text != nullptr, "there is no file " + path);
  handles.emplace_back();
  cores.each([&](Core& core) {
    auto made = std::make_unique<Kernel>();
    made->name = path.substr(path.rfind('/') + 1, path.rfind('.') - path.rfind('/') - 1);
    made->core = &core, made->run = text->run;
    configure(*made);
    handles.back().push_back(made.get());
    kernels.push_back(std::move(made));
  });
  return handles.size() - 1;
}

inline KernelHandle CreateKernel(Program&, const std::string& path, const CoreRangeSet& cores, const DataMovementConfig& config) {
  return make_kernel(path, cores, [&](emulation::Kernel& kernel) {
    kernel.noc = uint8_t(config.noc), kernel.both_nocs = config.noc_mode == NOC_MODE::DM_DYNAMIC_NOC;
  });
}
inline KernelHandle CreateKernel(Program&, const std::string& path, const CoreRangeSet& cores, const ComputeConfig& config) {
  emulation::demand(config.fp32_dest_acc_en, "this emulation has DST registers of float32 only");
  return make_kernel(path, cores, [&](emulation::Kernel& kernel) {
    kernel.computes = true, kernel.full_registers = config.dst_full_sync_en;
  });
}

inline void SetRuntimeArgs(Program&, KernelHandle handle, const CoreCoord& core, const std::vector<uint32_t>& arguments) {
  using namespace emulation;
  demand(arguments.size() <= kArguments, s(arguments.size()) + " arguments are given to a kernel, which takes 341 at most");
  for (Kernel* kernel : handles.at(handle))
    if (kernel->core->x == core.x && kernel->core->y == core.y) {
      kernel->arguments = arguments;
      return;
    }
  fail("arguments are given to a core that has no such kernel");
}

namespace distributed {

struct MeshCommandQueue {};
struct MeshShape {};
struct MeshCoordinateRange {
  explicit MeshCoordinateRange(MeshShape) {}
};

class MeshDevice {
 public:
  static std::shared_ptr<MeshDevice> create_unit_mesh(int) {
    emulation::map_l1();
    return std::make_shared<MeshDevice>();
  }
  MeshCommandQueue& mesh_command_queue() { return queue_; }
  MeshShape shape() const { return {}; }
  CoreCoord worker_core_from_logical_core(const CoreCoord& core) const {
    emulation::demand(core.x < 8 && core.y < 8, "a core is not on the grid");
    return {emulation::kColumns[core.x], emulation::kRows[core.y]};
  }
  void close() {}

 private:
  MeshCommandQueue queue_;
};

struct DeviceLocalBufferConfig {
  uint32_t page_size;
  BufferType buffer_type;
};
struct ReplicatedBufferConfig {
  uint64_t size;
};

class MeshBuffer {
 public:
  static std::shared_ptr<MeshBuffer> create(const ReplicatedBufferConfig& whole, const DeviceLocalBufferConfig& local,
                                            MeshDevice*) {
    using namespace emulation;
    demand(local.page_size % 32 == 0 && whole.size % local.page_size == 0, "a buffer in DRAM is no number of pages");
    static uint32_t next = 1 << 16;
    auto made = std::make_shared<MeshBuffer>();
    made->address_ = next;
    const uint32_t pages = uint32_t(whole.size / local.page_size);
    dram[next] = {next, local.page_size, pages, std::vector<uint8_t>(whole.size, 0xff)};
    next += (pages + kBanks - 1) / kBanks * local.page_size;
    return made;
  }
  uint32_t address() const { return address_; }

 private:
  uint32_t address_ = 0;
};

inline void EnqueueWriteMeshBuffer(MeshCommandQueue&, std::shared_ptr<MeshBuffer>& buffer, std::vector<uint32_t>& words, bool) {
  auto& data = emulation::dram.at(buffer->address()).data;
  emulation::demand(words.size() * 4 == data.size(), "what is written to a buffer has another size");
  std::memcpy(data.data(), words.data(), data.size());
}
inline void EnqueueReadMeshBuffer(MeshCommandQueue&, std::vector<uint32_t>& words, std::shared_ptr<MeshBuffer>& buffer, bool) {
  auto& data = emulation::dram.at(buffer->address()).data;
  words.resize(data.size() / 4);
  std::memcpy(words.data(), data.data(), data.size());
}

struct MeshWorkload {
  void add_program(const MeshCoordinateRange&, Program&&) {}
};
inline void EnqueueMeshWorkload(MeshCommandQueue&, MeshWorkload&, bool) { emulation::run_all(emulation::seed); }
inline void Finish(MeshCommandQueue&) {}

}  // namespace distributed
}  // namespace tt::tt_metal

#endif
