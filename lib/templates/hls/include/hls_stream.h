// Decides what `hls::stream` is on a CPU: a queue that holds its depth while a kernel is simulated, and any number of
// elements where a program for the host uses it by itself; there its depth counts for `full` and `write_nb` only.
#ifndef ALLO_SIM_HLS_STREAM_H
#define ALLO_SIM_HLS_STREAM_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "allo_sim/errors.h"
#include "allo_sim/simulation.h"

namespace hls {

using allo_sim::stream_error;

/// In a simulation those that read and write take turns; else a stream holds all that is written before it is read.
template <class T, int Depth = 0>
class stream;

template <class T>
class stream<T, 0> {
 public:
  using value_type = T;

  stream() = default;
  explicit stream(const char *name) : name_(name) {}
  explicit stream(std::string name) : name_(std::move(name)) {}
  stream(const stream &) = delete;
  stream &operator=(const stream &) = delete;
  ~stream() {
    if (allo_sim::simulation *here = allo_sim::simulation::running()) here->forget(state_);
  }

  T read() {
    if (state_.count == 0) wait_for_element();
    T value = std::move(ring_[state_.gets & (ring_.size() - 1)]);
    if (allo_sim::simulation *here = allo_sim::simulation::running())
      state_.has_got(here->running_fiber(), site_);
    else
      state_.has_got();
    return value;
  }
  void read(T &value) { value = read(); }
  void operator>>(T &value) { value = read(); }
  /// Whether there was an element, which then is `value`.
  bool read_nb(T &value) {
    if (state_.count == 0 && empty()) return false;
    value = read();
    return true;
  }
  /// The oldest element, which stays; who calls it waits for one. No tool has it for `hls::stream`.
  const T &front() {
    allo_sim::simulation *here = allo_sim::simulation::running();
    if (state_.count == 0) wait_for_element();
    else if (here != nullptr) here->look(state_, site_);
    return ring_[state_.gets & (ring_.size() - 1)];
  }

  void write(const T &value) {
    if (sink_) return sink_(value);
    if (state_.is_full()) allo_sim::simulation::running()->wait_for_room(state_, site_);
    push(value);
  }
  void operator<<(const T &value) { write(value); }
  /// Whether there was room.
  bool write_nb(const T &value) {
    if (has_no_room() && full()) return false;
    write(value);
    return true;
  }

  bool empty() const {
    if (state_.count == 0 && is_source_empty_) return is_source_empty_();
    allo_sim::simulation *here = allo_sim::simulation::running();
    return here == nullptr ? state_.count == 0 : here->is_empty(state_);
  }
  bool full() const {
    allo_sim::simulation *here = allo_sim::simulation::running();
    return here == nullptr || state_.depth == 0 ? has_no_room() : here->is_full(state_);
  }
  std::size_t size() const { return state_.count; }
  /// Elements that the declared depth has room for; 0 if none was declared.
  std::size_t capacity() const { return depth_; }

  const std::string &name() const { return name_; }
  void set_name(const char *name) { name_ = name; }
  /// This stream, for the read or write that has this number in the program that is simulated.
  stream &at(std::uint32_t site) {
    site_ = site;
    return *this;
  }
  /// Lets the stream hold `depth` elements, if it is in a simulation, whose reports call it `number`.
  void simulated(const std::string &number, std::size_t depth) {
    depth_ = depth;
    if (allo_sim::simulation::running() == nullptr) return;
    state_ = allo_sim::fifo_state(depth);
    state_.name = number;
    allo_sim::simulation::running()->enrol(state_);
  }
  /// Lets what is read come from elsewhere, which may wait, when there is no element here.
  void connect_source(std::function<void(T &)> source, std::function<bool()> is_empty) {
    source_ = std::move(source);
    is_source_empty_ = std::move(is_empty);
  }
  /// Lets what is written go elsewhere.
  void connect_sink(std::function<void(const T &)> sink) { sink_ = std::move(sink); }

 protected:
  std::size_t depth_ = 0;

 private:
  mutable allo_sim::fifo_state state_;  // a question counts
  std::uint32_t site_ = 0;
  std::vector<T> ring_;  // element k is at k modulo the size, a power of two
  std::string name_;
  std::function<void(T &)> source_;
  std::function<bool()> is_source_empty_;
  std::function<void(const T &)> sink_;

  void push(const T &value) {
    if (state_.count == ring_.size()) grow();
    ring_[state_.puts & (ring_.size() - 1)] = value;
    if (allo_sim::simulation *here = allo_sim::simulation::running())
      state_.has_put(here->running_fiber(), site_);
    else
      state_.has_put();
  }

  bool has_no_room() const { return depth_ != 0 && state_.count >= depth_; }

  [[gnu::cold, gnu::noinline]] void grow() {
    std::vector<T> larger(ring_.empty() ? 2 : 2 * ring_.size());
    for (std::uint64_t k = state_.gets; k != state_.puts; ++k)
      larger[k & (larger.size() - 1)] = std::move(ring_[k & (ring_.size() - 1)]);
    ring_.swap(larger);
  }

  [[gnu::noinline]] void wait_for_element() {
    if (source_) {
      T value;
      source_(value);
      push(value);
      return;
    }
    if (!state_.name.empty()) {
      allo_sim::simulation::running()->wait_for_element(state_, site_);
      return;
    }
    throw stream_error("the stream " + (name_.empty() ? std::string("without name") : "'" + name_ + "'") +
                       " is empty where it is read, after " + std::to_string(state_.gets) +
                       " elements; its writer puts too few, or comes later than its reader");
  }
};

template <class T, int Depth>
class stream : public stream<T, 0> {
  static_assert(Depth > 0, "the depth of a stream is at least 1");

 public:
  stream() { this->depth_ = Depth; }
  explicit stream(const char *name) : stream<T, 0>(name) { this->depth_ = Depth; }
  explicit stream(std::string name) : stream<T, 0>(std::move(name)) { this->depth_ = Depth; }
};

}  // namespace hls

#endif
