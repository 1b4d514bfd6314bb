// `hls::stream` on a CPU: a queue that holds its depth while a kernel is simulated, and any number of elements where a
// program for the host uses it by itself; there its depth counts for `full` and `write_nb` only.
#ifndef ALLO_SIM_HLS_STREAM_H
#define ALLO_SIM_HLS_STREAM_H

#include <cstddef>
#include <cstdint>
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
    delete source_;
    delete sink_;
  }

  T read() {
    if (state_.count() == 0) wait_for_element();
    T value = std::move(ring_[state_.gets() & (ring_.size() - 1)]);
    state_.has_got(site_);
    return value;
  }
  void read(T &value) { value = read(); }
  void operator>>(T &value) { value = read(); }
  /// Whether there was an element, which then is `value`.
  bool read_nb(T &value) {
    if (state_.count() == 0 && empty()) return false;
    value = read();
    return true;
  }
  /// The oldest element, which stays; who calls it waits for one. No tool has it for `hls::stream`.
  const T &front() {
    if (state_.count() == 0)
      wait_for_element();
    else
      state_.look(site_);
    return ring_[state_.gets() & (ring_.size() - 1)];
  }

  void write(const T &value) {
    if (sink_ != nullptr) return sink_->put(value);
    state_.wait_for_room(site_);
    push(value);
  }
  void operator<<(const T &value) { write(value); }
  /// Whether there was room.
  bool write_nb(const T &value) {
    if (depth_ != 0 && state_.count() >= depth_ && full()) return false;
    write(value);
    return true;
  }

  bool empty() const {
    if (state_.count() == 0 && source_ != nullptr) return source_->is_empty();
    return state_.is_empty();
  }
  bool full() const { return state_.is_full(depth_); }
  std::size_t size() const { return state_.count(); }
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
    state_.enrol(number, depth);
  }
  /// Lets what is read come from elsewhere, which may wait, when there is no element here.
  template <class Get, class IsEmpty>
  void connect_source(Get get, IsEmpty is_empty) {
    struct connected final : source {
      connected(Get get, IsEmpty is_empty) : get_(get), is_empty_(is_empty) {}
      void get(T &value) override { get_(value); }
      bool is_empty() override { return is_empty_(); }
      Get get_;
      IsEmpty is_empty_;
    };
    source_ = new connected(get, is_empty);
  }
  /// Lets what is written go elsewhere.
  template <class Put>
  void connect_sink(Put put) {
    struct connected final : sink {
      explicit connected(Put put) : put_(put) {}
      void put(const T &value) override { put_(value); }
      Put put_;
    };
    sink_ = new connected(put);
  }

 protected:
  std::size_t depth_ = 0;

 private:
  struct source {
    virtual ~source() = default;
    virtual void get(T &value) = 0;
    virtual bool is_empty() = 0;
  };
  struct sink {
    virtual ~sink() = default;
    virtual void put(const T &value) = 0;
  };

  mutable allo_sim::stream_state state_;  // a question counts
  std::uint32_t site_ = 0;
  std::vector<T> ring_;  // element k is at k modulo the size, a power of two
  std::string name_;
  source *source_ = nullptr;
  sink *sink_ = nullptr;

  void push(const T &value) {
    if (state_.count() == ring_.size()) grow();
    ring_[state_.puts() & (ring_.size() - 1)] = value;
    state_.has_put(site_);
  }

  [[gnu::cold, gnu::noinline]] void grow() {
    std::vector<T> larger(ring_.empty() ? 2 : 2 * ring_.size());
    for (std::uint64_t k = state_.gets(); k != state_.puts(); ++k)
      larger[k & (larger.size() - 1)] = std::move(ring_[k & (ring_.size() - 1)]);
    ring_.swap(larger);
  }

  [[gnu::noinline]] void wait_for_element() {
    if (source_ != nullptr) {
      T value;
      source_->get(value);
      push(value);
      return;
    }
    if (!state_.wait_for_element(site_)) allo_sim::empty_stream(name_, state_.gets());
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
