// The part of the AIE vector API that kernels of allo use, for the compiler of a host: what they compute, not how fast.
// Compilers for cores have a header of this name of their own. Written from the API's documentation.
#pragma once

#include <cstdint>

#include <type_traits>

#define restrict __restrict // as compilers for cores know it in C++ too

namespace aie {
enum class rounding_mode { floor, conv_even };
enum class saturation_mode { none, saturate };

namespace host {
inline rounding_mode &rounding() {
  static thread_local rounding_mode mode = rounding_mode::floor;
  return mode;
}
inline saturation_mode &saturation() {
  static thread_local saturation_mode mode = saturation_mode::none;
  return mode;
}
} // namespace host

inline void set_rounding(rounding_mode mode) { host::rounding() = mode; }
inline void set_saturation(saturation_mode mode) { host::saturation() = mode; }
} // namespace aie

// The upper half of a float.
class bfloat16 {
  std::uint16_t bits = 0;

public:
  bfloat16() = default;
  bfloat16(float value) {
    std::uint32_t word;
    __builtin_memcpy(&word, &value, 4);
    if (value != value)
      word |= 0x400000;
    else if (aie::host::rounding() == aie::rounding_mode::conv_even)
      word += 0x7fff + ((word >> 16) & 1);
    bits = std::uint16_t(word >> 16);
  }
  operator float() const {
    std::uint32_t word = std::uint32_t(bits) << 16;
    float value;
    __builtin_memcpy(&value, &word, 4);
    return value;
  }
};
static_assert(sizeof(bfloat16) == 2, "bfloat16 takes two bytes");

// A number of four bits: only vectors have such elements, two in a byte, the first one in its lower bits.
struct int4 {};

// Kinds of accumulators.
struct accauto {};
struct acc32 {};
struct acc64 {};
struct accfloat {};

namespace aie {
template <typename T> constexpr bool is_float = std::is_same_v<T, float> || std::is_same_v<T, bfloat16>;
template <typename T> using tag_of = std::conditional_t<is_float<T>, accfloat, acc64>;
// What an accumulator keeps: a float, or an integer, of whose bits results are the lower ones.
template <typename Tag> using sum_of = std::conditional_t<std::is_same_v<Tag, accfloat>, float, std::int64_t>;

namespace host {
template <typename T, typename S> T narrowed(S value, int shift) {
  if constexpr (is_float<T>) {
    return T(float(value));
  } else if constexpr (std::is_floating_point_v<S>) {
    return T(__builtin_nearbyintf(value));
  } else {
    S shifted = value >> shift;
    if (saturation() == saturation_mode::saturate) {
      const S high = (S(1) << (8 * sizeof(T) - 1)) - 1;
      shifted = shifted > high ? high : shifted < -high - 1 ? -high - 1 : shifted;
    }
    return T(std::make_unsigned_t<S>(shifted));
  }
}
} // namespace host

template <typename T> constexpr unsigned bits_of = 8 * sizeof(T);
template <> inline constexpr unsigned bits_of<int4> = 4;

template <typename T, unsigned N> struct vector {
  static_assert((N & (N - 1)) == 0 && N * sizeof(T) >= 16 && N * sizeof(T) <= 256, "vectors have 128 to 2048 bits");
  T lanes[N] = {};
  static constexpr unsigned size() { return N; }
  T get(unsigned k) const { return lanes[k]; }
  void set(T value, unsigned k) { lanes[k] = value; }
  T operator[](unsigned k) const { return lanes[k]; }
  T &operator[](unsigned k) { return lanes[k]; }
  template <unsigned P> vector<T, P> extract(unsigned part) const {
    vector<T, P> made;
    __builtin_memcpy(made.lanes, lanes + part * P, sizeof(made.lanes));
    return made;
  }
  template <unsigned P> vector &insert(unsigned part, const vector<T, P> &from) {
    __builtin_memcpy(lanes + part * P, from.lanes, sizeof(from.lanes));
    return *this;
  }
  void push(T value) {
    for (unsigned k = N - 1; k; --k)
      lanes[k] = lanes[k - 1];
    lanes[0] = value;
  }
  template <typename U> vector<U, N * bits_of<T> / bits_of<U>> cast_to() const {
    vector<U, N * bits_of<T> / bits_of<U>> made;
    __builtin_memcpy(made.lanes, lanes, sizeof(lanes));
    return made;
  }
};

template <unsigned N> struct vector<int4, N> {
  static_assert((N & (N - 1)) == 0 && N >= 32 && N <= 512, "vectors have 128 to 2048 bits");
  std::int8_t lanes[N / 2] = {};
  static constexpr unsigned size() { return N; }
  std::int8_t get(unsigned k) const {
    std::int8_t low = std::int8_t(std::uint8_t(lanes[k / 2]) << (k % 2 ? 0 : 4));
    return low >> 4;
  }
  template <typename U> vector<U, N / 2 / sizeof(U)> cast_to() const {
    vector<U, N / 2 / sizeof(U)> made;
    __builtin_memcpy(made.lanes, lanes, sizeof(lanes));
    return made;
  }
  vector<std::int8_t, N> unpack() const {
    vector<std::int8_t, N> made;
    for (unsigned k = 0; k < N; ++k)
      made.lanes[k] = get(k);
    return made;
  }
};
template <unsigned N> vector<std::int8_t, N> unpack(const vector<int4, N> &a) { return a.unpack(); }

template <typename T, unsigned N> struct mask {
  bool lanes[N] = {};
  bool test(unsigned k) const { return lanes[k]; }
  unsigned count() const {
    unsigned set = 0;
    for (bool lane : lanes)
      set += lane;
    return set;
  }
  bool empty() const { return count() == 0; }
};

template <typename Tag, unsigned N> struct accum {
  using S = sum_of<Tag>;
  S lanes[N] = {};
  accum() = default;
  static constexpr unsigned size() { return N; }
  template <typename T> explicit accum(const vector<T, N> &from, int shift = 0) { from_vector(from, shift); }
  template <typename Other> accum(const accum<Other, N> &from) { // of another width
    for (unsigned k = 0; k < N; ++k)
      lanes[k] = S(from.lanes[k]);
  }
  template <typename T> void from_vector(const vector<T, N> &from, int shift = 0) {
    for (unsigned k = 0; k < N; ++k)
      lanes[k] = S(from.lanes[k]) * S(std::int64_t(1) << shift);
  }
  template <typename T> vector<T, N> to_vector(int shift = 0) const {
    vector<T, N> made;
    for (unsigned k = 0; k < N; ++k)
      made.lanes[k] = host::narrowed<T>(lanes[k], shift);
    return made;
  }
  template <typename T> operator vector<T, N>() const { return to_vector<T>(); }
};

template <unsigned N, typename T> vector<std::remove_const_t<T>, N> load_v(const T *from) {
  vector<std::remove_const_t<T>, N> made;
  __builtin_memcpy(made.lanes, from, sizeof(made.lanes));
  return made;
}
template <unsigned N, typename T> vector<std::remove_const_t<T>, N> load_unaligned_v(const T *from) {
  return load_v<N>(from);
}
template <typename T, unsigned N> void store_v(T *to, const vector<T, N> &from) {
  __builtin_memcpy(to, from.lanes, sizeof(from.lanes));
}
template <typename T, unsigned N> void store_unaligned_v(T *to, const vector<T, N> &from) { store_v(to, from); }

template <typename T>
constexpr bool is_tag = std::is_same_v<T, accfloat> || std::is_same_v<T, acc32> || std::is_same_v<T, acc64>;
template <typename T, unsigned N, std::enable_if_t<!is_tag<T>, int> = 0> vector<T, N> zeros() { return {}; }
template <typename Tag, unsigned N, std::enable_if_t<is_tag<Tag>, int> = 0> accum<Tag, N> zeros() { return {}; }
template <typename T, unsigned N> vector<T, N> broadcast(T value) {
  vector<T, N> made;
  for (T &lane : made.lanes)
    lane = value;
  return made;
}

namespace host {
template <typename R, typename T, unsigned N, typename F> R each(const vector<T, N> &a, const vector<T, N> &b, F f) {
  R made;
  for (unsigned k = 0; k < N; ++k)
    made.lanes[k] = f(a.lanes[k], b.lanes[k]);
  return made;
}
template <typename T> using word = std::conditional_t<is_float<T>, float, std::int64_t>;
} // namespace host

template <typename T, unsigned N> vector<T, N> add(const vector<T, N> &a, const vector<T, N> &b) {
  return host::each<vector<T, N>>(a, b, [](T x, T y) { return T(host::word<T>(x) + host::word<T>(y)); });
}
template <typename T, unsigned N> vector<T, N> sub(const vector<T, N> &a, const vector<T, N> &b) {
  return host::each<vector<T, N>>(a, b, [](T x, T y) { return T(host::word<T>(x) - host::word<T>(y)); });
}
template <typename T, unsigned N> vector<T, N> max(const vector<T, N> &a, const vector<T, N> &b) {
  return host::each<vector<T, N>>(a, b, [](T x, T y) { return x > y ? x : y; });
}
template <typename T, unsigned N> vector<T, N> min(const vector<T, N> &a, const vector<T, N> &b) {
  return host::each<vector<T, N>>(a, b, [](T x, T y) { return x < y ? x : y; });
}
template <typename T, unsigned N> accum<tag_of<T>, N> mul(const vector<T, N> &a, const vector<T, N> &b) {
  using S = sum_of<tag_of<T>>;
  return host::each<accum<tag_of<T>, N>>(a, b, [](T x, T y) { return S(x) * S(y); });
}
template <typename T, unsigned N> vector<T, N> neg(const vector<T, N> &a) { return sub(zeros<T, N>(), a); }

template <typename T, unsigned N> mask<T, N> lt(const vector<T, N> &a, const vector<T, N> &b) {
  return host::each<mask<T, N>>(a, b, [](T x, T y) { return x < y; });
}
template <typename T, unsigned N> mask<T, N> ge(const vector<T, N> &a, const vector<T, N> &b) {
  return host::each<mask<T, N>>(a, b, [](T x, T y) { return x >= y; });
}
template <typename T, unsigned N> mask<T, N> eq(const vector<T, N> &a, const vector<T, N> &b) {
  return host::each<mask<T, N>>(a, b, [](T x, T y) { return x == y; });
}
// The lanes of `b` where the mask is set, those of `a` elsewhere.
template <typename T, unsigned N, typename U>
vector<T, N> select(const vector<T, N> &a, const vector<T, N> &b, const mask<U, N> &m) {
  vector<T, N> made;
  for (unsigned k = 0; k < N; ++k)
    made.lanes[k] = m.lanes[k] ? b.lanes[k] : a.lanes[k];
  return made;
}

// The columns of a matrix of rows x columns, one after the other.
template <typename T, unsigned N> vector<T, N> transpose(const vector<T, N> &a, unsigned rows, unsigned columns) {
  vector<T, N> made;
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < columns; ++j)
      made.lanes[j * rows + i] = a.lanes[i * columns + j];
  return made;
}

template <typename T, unsigned N> T reduce_add(const vector<T, N> &a) {
  vector<T, N> sums = a; // in pairs, as a tree of adders does
  for (unsigned half = N / 2; half; half /= 2)
    for (unsigned k = 0; k < half; ++k)
      sums.lanes[k] = T(host::word<T>(sums.lanes[k]) + host::word<T>(sums.lanes[k + half]));
  return sums.lanes[0];
}
template <typename T, unsigned N> T reduce_max(const vector<T, N> &a) {
  T best = a.lanes[0];
  for (T lane : a.lanes)
    best = lane > best ? lane : best;
  return best;
}
template <typename T, unsigned N> T reduce_min(const vector<T, N> &a) {
  T best = a.lanes[0];
  for (T lane : a.lanes)
    best = lane < best ? lane : best;
  return best;
}

template <typename R, typename T, unsigned N> vector<R, N> to_float(const vector<T, N> &a, int shift = 0) {
  vector<R, N> made;
  for (unsigned k = 0; k < N; ++k)
    made.lanes[k] = R(__builtin_ldexpf(float(a.lanes[k]), -shift));
  return made;
}
template <typename R, typename T, unsigned N> vector<R, N> to_fixed(const vector<T, N> &a, int shift = 0) {
  vector<R, N> made;
  for (unsigned k = 0; k < N; ++k) {
    float scaled = __builtin_ldexpf(float(a.lanes[k]), shift);
    made.lanes[k] = R(host::rounding() == rounding_mode::floor ? __builtin_floorf(scaled) : __builtin_nearbyintf(scaled));
  }
  return made;
}
template <unsigned N> vector<float, N> inv(const vector<float, N> &a) {
  vector<float, N> made;
  for (unsigned k = 0; k < N; ++k)
    made.lanes[k] = 1.0f / a.lanes[k];
  return made;
}
template <unsigned N> vector<float, N> sqrt(const vector<float, N> &a) {
  vector<float, N> made;
  for (unsigned k = 0; k < N; ++k)
    made.lanes[k] = __builtin_sqrtf(a.lanes[k]);
  return made;
}
template <unsigned N> vector<float, N> invsqrt(const vector<float, N> &a) {
  vector<float, N> made;
  for (unsigned k = 0; k < N; ++k)
    made.lanes[k] = 1.0f / __builtin_sqrtf(a.lanes[k]);
  return made;
}
template <typename T, unsigned N> vector<T, N> upshift(const vector<T, N> &a, unsigned shift) {
  vector<T, N> made;
  for (unsigned k = 0; k < N; ++k)
    made.lanes[k] = T(std::make_unsigned_t<T>(a.lanes[k]) << shift);
  return made;
}
inline float sqrt(float value) { return __builtin_sqrtf(value); }
inline float inv(float value) { return 1.0f / value; }
inline float invsqrt(float value) { return 1.0f / __builtin_sqrtf(value); }

template <unsigned M, unsigned K, unsigned N, typename A, typename B> constexpr bool is_native_product() {
#define ALLO_SHAPE(a, b, m, k, n) (std::is_same_v<A, a> && std::is_same_v<B, b> && M == m && K == k && N == n)
  return ALLO_SHAPE(std::int8_t, std::int8_t, 4, 8, 8) || ALLO_SHAPE(std::int8_t, std::int8_t, 2, 8, 8) ||
         ALLO_SHAPE(std::int8_t, std::int8_t, 8, 8, 8) || ALLO_SHAPE(std::int16_t, std::int16_t, 4, 4, 4) ||
         ALLO_SHAPE(std::int16_t, std::int16_t, 2, 4, 8) || ALLO_SHAPE(std::int16_t, std::int16_t, 4, 2, 8) ||
         ALLO_SHAPE(std::int16_t, std::int16_t, 4, 4, 8) || ALLO_SHAPE(std::int16_t, std::int16_t, 8, 2, 8) ||
         ALLO_SHAPE(std::int16_t, std::int8_t, 4, 4, 8) || ALLO_SHAPE(std::int16_t, std::int8_t, 4, 8, 4) ||
         ALLO_SHAPE(std::int16_t, std::int8_t, 2, 8, 8) || ALLO_SHAPE(std::int16_t, std::int8_t, 8, 4, 8) ||
         ALLO_SHAPE(std::int8_t, int4, 4, 16, 8) || ALLO_SHAPE(std::int8_t, int4, 4, 16, 16) ||
         ALLO_SHAPE(bfloat16, bfloat16, 4, 8, 4) || ALLO_SHAPE(bfloat16, bfloat16, 8, 8, 8);
#undef ALLO_SHAPE
}

// A product of blocks of one native shape: A is M x K, B is K x N, row by row.
template <unsigned M, unsigned K, unsigned N, typename A, typename B = A, typename Tag = accauto> struct mmul {
  static_assert(is_native_product<M, K, N, A, B>(), "no instruction multiplies blocks of this shape");
  static constexpr unsigned size_A = M * K, size_B = K * N, size_C = M * N;
  using S = sum_of<tag_of<A>>;
  accum<tag_of<A>, size_C> sums;
  mmul() = default;
  template <typename T> explicit mmul(const vector<T, size_C> &from, int shift = 0) : sums(from, shift) {}
  void mul(const vector<A, size_A> &a, const vector<B, size_B> &b) {
    sums = {};
    mac(a, b);
  }
  void mac(const vector<A, size_A> &a, const vector<B, size_B> &b) {
    for (unsigned i = 0; i < M; ++i)
      for (unsigned k = 0; k < K; ++k)
        for (unsigned j = 0; j < N; ++j)
          sums.lanes[i * N + j] += S(a.lanes[i * K + k]) * S(b.get(k * N + j));
  }
  template <typename T> vector<T, size_C> to_vector(int shift = 0) const { return sums.template to_vector<T>(shift); }
};
} // namespace aie

#include <aie_api/functions.hpp>
