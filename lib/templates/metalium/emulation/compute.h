// The compute interface of TT-Metalium: tiles of four faces, DST registers of float32, and what must be configured.
#ifndef ALLO_METALIUM_COMPUTE_H
#define ALLO_METALIUM_COMPUTE_H

#include "machine.h"

enum class BroadcastType { NONE, COL, ROW, SCALAR };
enum class PoolType { SUM, AVG, MAX };
enum class ReduceDim { REDUCE_ROW, REDUCE_COL, REDUCE_SCALAR };

namespace emulation {

using Tile = std::array<float, 1024>;  // row by row

struct Engine {
  std::vector<Tile> registers;
  std::vector<bool> written, reduced, whole;  // whole: the register holds integers, bit by bit
  enum { Free, Acquired, Committed, Packing } state = Free;
  DataFormat a = DataFormat::Float32, b = DataFormat::Float32, pack = DataFormat::Float32;
  bool started = false;
  std::string mode, sfpu;
};
inline std::map<Core*, Engine> engines;

inline Engine& engine() {
  demand(current->computes, "only a compute kernel computes on tiles");
  Engine& made = engines[current->core];
  if (made.registers.empty()) {
    const size_t count = current->full_registers ? 8 : 4;
    made.registers.resize(count);
    made.written.resize(count);
    made.reduced.resize(count);
    made.whole.resize(count);
  }
  return made;
}

inline Tile& reg(uint32_t number, bool reads, bool whole = false) {
  Engine& e = engine();
  demand(number < e.registers.size(), "there is no DST register " + s(number) + " of float32");
  demand(e.state == Engine::Acquired, "DST registers are used and not acquired");
  demand(!reads || e.written[number], "DST register " + s(number) + " is read, and was not written");
  demand(!reads || e.whole[number] == whole,
         "DST register " + s(number) + " holds " + (whole ? "floats, and is used as integers" : "integers, and is used as floats"));
  e.written[number] = true;
  e.whole[number] = whole;
  return e.registers[number];
}

inline uint32_t place_of(uint32_t row, uint32_t column) {
  return (row / 16 * 2 + column / 16) * 256 + row % 16 * 16 + column % 16;
}

/// A tile of a circular buffer as unpackers give it: in float32, of which registers of sources hold 10 bits.
inline Tile unpacked(uint32_t buffer, uint32_t index) {
  CircularBuffer& b = buffer_of(buffer);
  demand(b.format != DataFormat::Int32 || engine().mode == "copies", "source registers have no elements of " + named(buffer));
  demand(index < current->waited[buffer],
         "tile " + s(index) + " of " + named(buffer) + " is read, and " + s(current->waited[buffer]) + " were waited for");
  const uint8_t* bytes = page_of(buffer, index, true);
  Tile made;
  for (uint32_t row = 0; row < 32; ++row) {
    for (uint32_t column = 0; column < 32; ++column) {
      uint32_t bits = 0;
      if (b.format != DataFormat::Float16_b) {
        std::memcpy(&bits, bytes + 4 * place_of(row, column), 4);
        if (b.format == DataFormat::Float32 && (bits & 0x7f800000u) != 0x7f800000u) bits &= ~0x1fffu;
      } else {
        uint16_t half;
        std::memcpy(&half, bytes + 2 * place_of(row, column), 2);
        bits = uint32_t(half) << 16;
      }
      std::memcpy(&made[row * 32 + column], &bits, 4);
    }
  }
  return made;
}

inline void demand_mode(const std::string& mode, uint32_t a, int b = -1) {
  Engine& e = engine();
  demand(e.mode == mode, "the unpacker is made ready for " + (e.mode.empty() ? "nothing" : e.mode) + ", not for " + mode);
  demand(e.a == buffer_of(a).format, "the format of source A is not that of " + named(a));
  demand(b < 0 || e.b == buffer_of(b).format, "the format of source B is not that of " + named(b < 0 ? 0 : b));
}

inline void get_ready(const std::string& mode) {
  demand(engine().started, "compute_kernel_hw_startup was not called");
  engine().mode = mode;
}

inline void demand_sfpu(const char* name) {
  demand(engine().sfpu == name, std::string(name) + "_tile is called, and " + name + "_tile_init was not called before it");
}

template <typename F>
void unary(const char* name, uint32_t d, F apply) {
  demand_sfpu(name);
  for (float& value : reg(d, true)) value = apply(value);
}

template <typename F>
void binary(const char* name, uint32_t first, uint32_t second, uint32_t to, F apply) {
  demand_sfpu(name);
  const Tile a = reg(first, true), b = reg(second, true);
  Tile& made = reg(to, false);
  for (size_t k = 0; k < 1024; ++k) made[k] = apply(a[k], b[k]);
}

inline float from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// Whether a value comes of memory that nobody wrote, all of whose bits are set; NaN of operations has other bits.
inline bool is_poison(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return std::isnan(value) && (bits & 0x3fffffu);
}

/// What comparisons take a value for: subnormal numbers are zeros.
inline float flushed(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? 0 : value; }

}  // namespace emulation

inline void compute_kernel_hw_startup(uint32_t a, uint32_t b, uint32_t out) {
  using namespace emulation;
  Engine& e = engine();
  e.a = buffer_of(a).format, e.b = buffer_of(b).format, e.pack = buffer_of(out).format, e.started = true;
}
inline void reconfig_data_format(uint32_t a, uint32_t b) {
  emulation::engine().a = emulation::buffer_of(a).format, emulation::engine().b = emulation::buffer_of(b).format;
}
inline void pack_reconfig_data_format(uint32_t out) { emulation::engine().pack = emulation::buffer_of(out).format; }

inline void tile_regs_acquire() {
  using namespace emulation;
  Engine& e = engine();
  demand(e.state == Engine::Free, "DST registers are acquired twice");
  e.state = Engine::Acquired;
  for (Tile& tile : e.registers) tile.fill(0);
  e.written.assign(e.written.size(), false);
  e.reduced.assign(e.reduced.size(), false);
  e.whole.assign(e.whole.size(), false);
}
inline void tile_regs_commit() {
  using namespace emulation;
  demand(engine().state == Engine::Acquired, "DST registers are committed and not acquired");
  engine().state = Engine::Committed;
}
inline void tile_regs_wait() {
  using namespace emulation;
  demand(engine().state == Engine::Committed, "the packer waits for DST registers that are not committed");
  engine().state = Engine::Packing;
}
inline void tile_regs_release() {
  using namespace emulation;
  demand(engine().state == Engine::Packing, "DST registers are released and not waited for");
  engine().state = Engine::Free;
}

inline void pack_tile(uint32_t from, uint32_t buffer) {
  using namespace emulation;
  Engine& e = engine();
  demand(e.state == Engine::Packing, "a tile is packed, and DST registers are not waited for");
  demand(from < e.registers.size() && e.written[from], "DST register " + s(from) + " is packed, and was not written");
  demand(e.pack == buffer_of(buffer).format, "the format of the packer is not that of " + named(buffer));
  demand(e.whole[from] == (e.pack == DataFormat::Int32), "DST register " + s(from) + " is not of the format of " + named(buffer));
  demand(e.mode.rfind("reduce", 0) != 0, "a tile is packed between reduce_init and reduce_uninit");
  const uint32_t index = current->packed[buffer]++;
  demand(index < current->reserved[buffer],
         "a tile is packed to " + named(buffer) + ", in which " + s(current->reserved[buffer]) + " are reserved");
  uint8_t* bytes = page_of(buffer, index, false);
  for (uint32_t row = 0; row < 32; ++row) {
    for (uint32_t column = 0; column < 32; ++column) {
      uint32_t bits;
      std::memcpy(&bits, &e.registers[from][row * 32 + column], 4);
      if (e.pack != DataFormat::Float16_b) {
        std::memcpy(bytes + 4 * place_of(row, column), &bits, 4);
      } else {
        const bool special = (bits & 0x7f800000u) == 0x7f800000u;
        const uint16_t half = (special ? bits : bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        std::memcpy(bytes + 2 * place_of(row, column), &half, 2);
      }
    }
  }
}

inline void copy_init(uint32_t) { emulation::get_ready("copies"); }
inline void copy_tile(uint32_t buffer, uint32_t index, uint32_t d) {
  emulation::demand_mode("copies", buffer);
  const bool whole = emulation::buffer_of(buffer).format == DataFormat::Int32;  // goes to DST as it is
  emulation::reg(d, false, whole) = emulation::unpacked(buffer, index);
}
inline void transpose_init(uint32_t) { emulation::get_ready("transposes"); }
inline void transpose_tile(uint32_t buffer, uint32_t index, uint32_t d) {
  emulation::demand_mode("transposes", buffer);
  const emulation::Tile tile = emulation::unpacked(buffer, index);
  for (uint32_t k = 0; k < 1024; ++k) emulation::reg(d, false)[k % 32 * 32 + k / 32] = tile[k];
}
template <BroadcastType kind>
inline void unary_bcast_init(uint32_t) {
  emulation::get_ready("broadcasts " + std::to_string(int(kind)));
}
template <BroadcastType kind>
inline void unary_bcast(uint32_t buffer, uint32_t index, uint32_t d) {
  emulation::demand_mode("broadcasts " + std::to_string(int(kind)), buffer, int(buffer));
  const emulation::Tile tile = emulation::unpacked(buffer, index);
  for (uint32_t k = 0; k < 1024; ++k)
    emulation::reg(d, false)[k] = tile[kind == BroadcastType::COL ? k / 32 * 32 : kind == BroadcastType::ROW ? k % 32 : 0];
}
template <BroadcastType kind>
inline void unary_bcast_uninit(uint32_t) {
  emulation::engine().mode.clear();
}

inline void matmul_init(uint32_t left, uint32_t right, uint32_t transpose = 0) {
  emulation::get_ready("products of " + std::to_string(left) + " and " + std::to_string(right) + (transpose ? " transposed" : ""));
}
inline void matmul_tiles(uint32_t left, uint32_t right, uint32_t left_tile, uint32_t right_tile, uint32_t d) {
  using namespace emulation;
  const std::string mode = "products of " + std::to_string(left) + " and " + std::to_string(right);
  const bool transposed = engine().mode == mode + " transposed";
  demand_mode(transposed ? mode + " transposed" : mode, right, int(left));
  const Tile a = unpacked(left, left_tile), b = unpacked(right, right_tile);
  Tile& made = reg(d, false);
  for (uint32_t i = 0; i < 32; ++i)
    for (uint32_t k = 0; k < 32; ++k)
      for (uint32_t j = 0; j < 32; ++j) made[i * 32 + j] += a[i * 32 + k] * (transposed ? b[j * 32 + k] : b[k * 32 + j]);
}

template <PoolType pool, ReduceDim along>
inline void reduce_init(uint32_t, uint32_t, uint32_t) {
  emulation::get_ready("reductions " + std::to_string(int(pool)) + std::to_string(int(along)));
}
inline void reduce_uninit(uint32_t = 0) { emulation::engine().mode.clear(); }
template <PoolType pool, ReduceDim along>
inline void reduce_tile(uint32_t buffer, uint32_t scaler, uint32_t index, uint32_t scaler_index, uint32_t d) {
  using namespace emulation;
  const bool swapped = pool == PoolType::SUM && along == ReduceDim::REDUCE_ROW;
  demand_mode("reductions " + std::to_string(int(pool)) + std::to_string(int(along)), swapped ? scaler : buffer,
              int(swapped ? buffer : scaler));
  const Tile tile = unpacked(buffer, index), ones = unpacked(scaler, scaler_index);
  Tile& made = reg(d, false);
  const bool first = !engine().reduced[d];
  engine().reduced[d] = true;
  for (uint32_t line = 0; line < 32; ++line) {
    float value = pool == PoolType::MAX ? -INFINITY : 0;
    for (uint32_t k = 0; k < 32; ++k) {
      const float one = tile[along == ReduceDim::REDUCE_ROW ? line * 32 + k : k * 32 + line] * ones[k];
      value = pool == PoolType::MAX ? (std::isnan(one) || one > value ? one : value) : value + one;
    }
    for (uint32_t k = 1; k < 32; ++k) made[along == ReduceDim::REDUCE_ROW ? line * 32 + k : k * 32 + line] = from_bits(0xffffffffu);
    float& result = made[along == ReduceDim::REDUCE_ROW ? line * 32 : line];
    result = first ? value : pool == PoolType::MAX ? std::max(result, value) : result + value;
  }
}

#define ALLO_SFPU(name) \
  inline void name##_tile_init() { emulation::engine().sfpu = #name; }
#define ALLO_UNARY(name, formula) \
  ALLO_SFPU(name)                 \
  inline void name##_tile(uint32_t d) { emulation::unary(#name, d, [](float v) -> float { return formula; }); }
#define ALLO_BINARY(name, formula)                                        \
  ALLO_SFPU(name)                                                         \
  inline void name##_tile(uint32_t first, uint32_t second, uint32_t to) { \
    emulation::binary(#name, first, second, to, [](float a, float b) -> float { return formula; }); \
  }
#define ALLO_WITH_SCALAR(name, formula)                                                       \
  inline void name##_unary_tile(uint32_t d, uint32_t bits) {                                   \
    const float w = emulation::from_bits(bits);                                                \
    emulation::unary("binop_with_scalar", d, [w](float v) -> float { return formula; });       \
  }
ALLO_UNARY(exp, std::exp(v))
ALLO_UNARY(sqrt, std::sqrt(v))
ALLO_UNARY(rsqrt, 1 / std::sqrt(v))
ALLO_UNARY(log, std::log(v))
ALLO_UNARY(tanh, std::tanh(v))
ALLO_UNARY(abs, std::fabs(v))
ALLO_UNARY(negative, -v)
ALLO_UNARY(recip, 1 / v)
ALLO_BINARY(add_binary, a + b)
ALLO_BINARY(sub_binary, a - b)
ALLO_BINARY(mul_binary, a * b)
ALLO_BINARY(div_binary, a / b)
ALLO_BINARY(binary_max, std::isnan(a) ? a : std::isnan(b) ? b : std::max(a, b))
ALLO_BINARY(binary_min, std::isnan(a) ? a : std::isnan(b) ? b : std::min(a, b))
ALLO_UNARY(gez, emulation::is_poison(v) ? v : v >= 0 ? 1 : 0)
ALLO_SFPU(binop_with_scalar)
ALLO_WITH_SCALAR(add, v + w)
ALLO_WITH_SCALAR(mul, v * w)
ALLO_SFPU(fill)
inline void fill_tile_bitcast(uint32_t d, uint32_t bits) {
  emulation::demand_sfpu("fill");
  emulation::reg(d, false).fill(emulation::from_bits(bits));
}
#define ALLO_COMPARED(name, sign)                                                                 \
  ALLO_BINARY(name##_binary, emulation::is_poison(a)                              ? a             \
                             : emulation::is_poison(b)                            ? b             \
                             : emulation::flushed(a) sign emulation::flushed(b) ? 1.0f : 0.0f) \
  ALLO_INTEGERS(name##_int, a sign b)
#define ALLO_INTEGERS(name, formula)                                                                     \
  template <DataFormat format>                                                                           \
  inline void name##_tile_init() {                                                                       \
    static_assert(format == DataFormat::Int32);                                                          \
    emulation::engine().sfpu = #name;                                                                    \
  }                                                                                                      \
  template <DataFormat format>                                                                           \
  inline void name##_tile(uint32_t first, uint32_t second, uint32_t to) {                                \
    static_assert(format == DataFormat::Int32);                                                          \
    emulation::integers(#name, first, second, to, [](int64_t a, int64_t b) -> int64_t { return formula; }); \
  }
namespace emulation {
template <typename F>
void integers(const char* name, uint32_t first, uint32_t second, uint32_t to, F apply) {
  demand_sfpu(name);
  const Tile a = reg(first, true, true), b = reg(second, true, true);
  Tile& made = reg(to, false, true);
  for (size_t k = 0; k < 1024; ++k) {
    int32_t left, right;
    std::memcpy(&left, &a[k], 4), std::memcpy(&right, &b[k], 4);
    const uint32_t bits = static_cast<uint32_t>(apply(left, right));
    std::memcpy(&made[k], &bits, 4);
  }
}
}  // namespace emulation
ALLO_COMPARED(eq, ==)
ALLO_COMPARED(ne, !=)
ALLO_COMPARED(lt, <)
ALLO_COMPARED(le, <=)
ALLO_COMPARED(gt, >)
ALLO_COMPARED(ge, >=)
ALLO_INTEGERS(mul_int, a * b)
ALLO_SFPU(add_int)
ALLO_SFPU(sub_int)
template <DataFormat format>
inline void add_int_tile(uint32_t first, uint32_t second, uint32_t to) {
  emulation::integers("add_int", first, second, to, [](int64_t a, int64_t b) { return a + b; });
}
template <DataFormat format>
inline void sub_int_tile(uint32_t first, uint32_t second, uint32_t to) {
  emulation::integers("sub_int", first, second, to, [](int64_t a, int64_t b) { return a - b; });
}
ALLO_SFPU(binary_max_int32)
inline void binary_max_int32_tile(uint32_t first, uint32_t second, uint32_t to) {
  emulation::integers("binary_max_int32", first, second, to, [](int64_t a, int64_t b) { return std::max(a, b); });
}
ALLO_SFPU(binary_min_int32)
inline void binary_min_int32_tile(uint32_t first, uint32_t second, uint32_t to) {
  emulation::integers("binary_min_int32", first, second, to, [](int64_t a, int64_t b) { return std::min(a, b); });
}
template <DataFormat format>
inline void fill_tile_int(uint32_t d, uint32_t bits) {
  static_assert(format == DataFormat::Int32);
  emulation::demand_sfpu("fill");
  emulation::reg(d, false, true).fill(emulation::from_bits(bits));
}
ALLO_SFPU(where)
template <DataFormat format>
inline void where_tile(uint32_t condition, uint32_t yes, uint32_t no, uint32_t to) {
  using namespace emulation;
  constexpr bool whole = format == DataFormat::Int32;
  demand_sfpu("where");
  const bool counted = condition < engine().whole.size() && engine().whole[condition];
  const Tile c = reg(condition, true, counted), a = reg(yes, true, whole), b = reg(no, true, whole);
  demand(whole || !counted, "a choice between floats by integers");
  for (size_t k = 0; k < 1024; ++k) {
    uint32_t bits;
    std::memcpy(&bits, &c[k], 4);
    reg(to, false, whole)[k] = !counted && is_poison(c[k]) ? c[k] : bits << 1 ? a[k] : b[k];
  }
}

#endif
