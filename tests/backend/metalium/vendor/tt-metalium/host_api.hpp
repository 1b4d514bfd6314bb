// The host interface of TT-Metalium as its library exports it: names and arguments, of which symbols are made.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace ttsl {
template <typename T, typename Tag>
struct StrongType {
    T value;
};
}  // namespace ttsl

namespace tt {
enum class DataFormat : uint8_t { Float32, Float16_b, Int32 };
struct xy_pair {
    size_t x = 0, y = 0;
    constexpr xy_pair() = default;
    constexpr xy_pair(size_t x_, size_t y_) : x(x_), y(y_) {}
};
}  // namespace tt

enum class MathFidelity : uint8_t { LoFi, HiFi2 = 2, HiFi3 = 3, HiFi4 = 4 };

namespace tt::tt_metal {
using CoreCoord = xy_pair;
struct CoreRange {
    CoreCoord start_coord, end_coord;
    CoreRange(const CoreCoord& point);
    CoreRange(const CoreCoord& start, const CoreCoord& end);
};
class CoreRangeSet {
   public:
    explicit CoreRangeSet(std::span<const CoreRange> ranges);
    explicit CoreRangeSet(std::vector<CoreRange>&& ranges);
    CoreRangeSet(const CoreRangeSet& other);

   private:
    std::vector<CoreRange> ranges_;
};
enum class BufferType { DRAM, L1 };
enum class DataMovementProcessor { RISCV_0, RISCV_1 };
enum NOC : uint8_t { NOC_0, NOC_1 };
enum NOC_MODE : uint8_t { DM_DEDICATED_NOC, DM_DYNAMIC_NOC };
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
    CircularBufferConfig(uint32_t total_size, const std::map<uint8_t, DataFormat>& formats);
    CircularBufferConfig& set_page_size(uint8_t buffer_index, uint32_t page_size);
};
class Program {
   public:
    Program();
    Program(Program&& other);
    ~Program();
};
using KernelHandle = uint32_t;
using CBHandle = uintptr_t;
struct SubDeviceIdTag;
using SubDeviceId = ttsl::StrongType<uint8_t, SubDeviceIdTag>;
struct DispatchCoreConfig {};

Program CreateProgram();
CBHandle CreateCircularBuffer(
    Program& program, const std::variant<CoreCoord, CoreRange, CoreRangeSet>& cores, const CircularBufferConfig& config);
uint32_t CreateSemaphore(Program& program, const std::variant<CoreRange, CoreRangeSet>& cores, uint32_t initial_value);
KernelHandle CreateKernel(
    Program& program,
    const std::string& file_name,
    const std::variant<CoreCoord, CoreRange, CoreRangeSet>& cores,
    const std::variant<DataMovementConfig, ComputeConfig>& config);
void SetRuntimeArgs(
    const Program& program,
    KernelHandle kernel,
    const std::variant<CoreCoord, CoreRange, CoreRangeSet>& cores,
    std::span<const uint32_t> arguments);
void SetRuntimeArgs(
    const Program& program,
    KernelHandle kernel,
    const std::variant<CoreCoord, CoreRange, CoreRangeSet>& cores,
    std::initializer_list<uint32_t> arguments);
}  // namespace tt::tt_metal
