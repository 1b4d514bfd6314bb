// Decides what `hls::stream` is on a CPU: a queue without bound; its depth counts for `full` and `write_nb` only.
#ifndef ALLO_SIM_HLS_STREAM_H
#define ALLO_SIM_HLS_STREAM_H

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include "allo_sim/errors.h"

namespace hls {

/// A stream was read that had no element.
class stream_error : public allo_sim::simulation_error {
 public:
  using simulation_error::simulation_error;
};

/// Tasks run one after the other, so a stream holds all that a task writes before its reader starts.
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

  T read() {
    if (queue_.empty()) fail();
    T value = std::move(queue_.front());
    queue_.pop_front();
    ++reads_;
    return value;
  }
  void read(T &value) { value = read(); }
  void operator>>(T &value) { value = read(); }
  /// Whether there was an element, which then is `value`.
  bool read_nb(T &value) {
    if (queue_.empty()) return false;
    value = read();
    return true;
  }

  void write(const T &value) { queue_.push_back(value); }
  void operator<<(const T &value) { write(value); }
  /// Whether there was room.
  bool write_nb(const T &value) {
    if (full()) return false;
    write(value);
    return true;
  }

  bool empty() const { return queue_.empty(); }
  bool full() const { return depth_ != 0 && queue_.size() >= depth_; }
  std::size_t size() const { return queue_.size(); }
  /// Elements that the declared depth has room for; 0 if none was declared.
  std::size_t capacity() const { return depth_; }

  const std::string &name() const { return name_; }
  void set_name(const char *name) { name_ = name; }

 protected:
  std::size_t depth_ = 0;

 private:
  std::deque<T> queue_;
  std::string name_;
  std::size_t reads_ = 0;

  [[noreturn, gnu::cold, gnu::noinline]] void fail() const {
    throw stream_error("the stream " + (name_.empty() ? std::string("without name") : "'" + name_ + "'") +
                       " is empty where it is read, after " + std::to_string(reads_) +
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
