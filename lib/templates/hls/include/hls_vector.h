// Decides what `hls::vector<T, N>` is: N elements with operators on all of them at once.
#ifndef ALLO_SIM_HLS_VECTOR_H
#define ALLO_SIM_HLS_VECTOR_H

#include <cstddef>
#include <initializer_list>

#include "allo_sim/errors.h"

namespace hls {

template <class T, std::size_t N>
class vector {
  static_assert(N > 0, "an hls::vector has at least one element");

 public:
  using value_type = T;

  vector() = default;
  /// All elements are `value`.
  vector(const T &value) {
    for (T &element : elements_) element = value;
  }
  /// The first elements; the others are T().
  vector(std::initializer_list<T> values) {
    if (values.size() > N) too_many(values.size());
    std::size_t i = 0;
    for (const T &value : values) elements_[i++] = value;
  }

  T &operator[](std::size_t i) { return elements_[checked(i)]; }
  const T &operator[](std::size_t i) const { return elements_[checked(i)]; }
  T *begin() { return elements_; }
  T *end() { return elements_ + N; }
  const T *begin() const { return elements_; }
  const T *end() const { return elements_ + N; }
  static constexpr std::size_t size() { return N; }

#define ALLO_SIM_VECTOR(op)                                                         \
  vector &operator op##=(const vector &other) {                                     \
    for (std::size_t i = 0; i < N; ++i) elements_[i] op## = other.elements_[i];     \
    return *this;                                                                   \
  }                                                                                 \
  friend vector operator op(vector a, const vector &b) { return a op## = b; }
  ALLO_SIM_VECTOR(+)
  ALLO_SIM_VECTOR(-)
  ALLO_SIM_VECTOR(*)
  ALLO_SIM_VECTOR(/)
  ALLO_SIM_VECTOR(%)
  ALLO_SIM_VECTOR(&)
  ALLO_SIM_VECTOR(|)
  ALLO_SIM_VECTOR(^)
  ALLO_SIM_VECTOR(<<)
  ALLO_SIM_VECTOR(>>)
#undef ALLO_SIM_VECTOR

  vector operator-() const {
    vector result;
    for (std::size_t i = 0; i < N; ++i) result.elements_[i] = T(-elements_[i]);
    return result;
  }
  vector operator~() const {
    vector result;
    for (std::size_t i = 0; i < N; ++i) result.elements_[i] = T(~elements_[i]);
    return result;
  }
  vector &operator++() { return *this += vector(T(1)); }
  vector &operator--() { return *this -= vector(T(1)); }

  friend bool operator==(const vector &a, const vector &b) {
    for (std::size_t i = 0; i < N; ++i)
      if (!(a.elements_[i] == b.elements_[i])) return false;
    return true;
  }
  friend bool operator!=(const vector &a, const vector &b) { return !(a == b); }

  /// From the first element to the last.
  T reduce_add() const {
    T total = elements_[0];
    for (std::size_t i = 1; i < N; ++i) total = T(total + elements_[i]);
    return total;
  }
  T reduce_mult() const {
    T total = elements_[0];
    for (std::size_t i = 1; i < N; ++i) total = T(total * elements_[i]);
    return total;
  }

 private:
  T elements_[N]{};

  static std::size_t checked(std::size_t i) {
    if (i >= N) no_such_element(i);
    return i;
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void no_such_element(std::size_t i) {
    throw allo_sim::simulation_error("there is no element " + std::to_string(i) + " in an hls::vector of " +
                                     std::to_string(N));
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void too_many(std::size_t count) {
    throw allo_sim::simulation_error("an hls::vector of " + std::to_string(N) + " elements is made from " +
                                     std::to_string(count));
  }
};

}  // namespace hls

#endif
