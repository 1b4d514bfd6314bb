// Decides what TAPA programs are on a CPU: tasks take turns, over streams that hold their depth. Without a simulation
// they run in the order of their `invoke`, over queues without bound.
#ifndef ALLO_SIM_TAPA_H
#define ALLO_SIM_TAPA_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "ap_int.h"
#include "hls_stream.h"
#include "hls_vector.h"

namespace tapa {

using hls::stream_error;

/// The reading end: a reference to a stream of any depth.
template <class T>
class istream {
 public:
  istream(hls::stream<T, 0> &queue) : queue_(&queue) {}
  bool empty() const { return queue_->empty(); }
  istream &at(std::uint32_t site) { return queue_->at(site), *this; }
  T read() { return queue_->read(); }
  bool try_read(T &value) { return queue_->read_nb(value); }
  bool try_peek(T &value) const {
    if (queue_->empty()) return false;
    value = queue_->front();
    return true;
  }
  istream &operator>>(T &value) {
    value = read();
    return *this;
  }

 private:
  hls::stream<T, 0> *queue_;
};

/// The writing end.
template <class T>
class ostream {
 public:
  ostream(hls::stream<T, 0> &queue) : queue_(&queue) {}
  bool full() const { return queue_->full(); }
  ostream &at(std::uint32_t site) { return queue_->at(site), *this; }
  void write(const T &value) { queue_->write(value); }
  bool try_write(const T &value) { return queue_->write_nb(value); }
  ostream &operator<<(const T &value) {
    write(value);
    return *this;
  }

 private:
  hls::stream<T, 0> *queue_;
};

template <class T, int Depth = 2>
class stream : public hls::stream<T, Depth> {
 public:
  stream() = default;
  explicit stream(const char *name) : hls::stream<T, Depth>(name) {}
};

/// Memory of the host.
template <class T>
class mmap {
 public:
  mmap(T *data, std::size_t size = 0) : data_(data), size_(size) {}
  T &operator[](std::ptrdiff_t i) const { return data_[i]; }
  operator T *() const { return data_; }
  T *get() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T *data_;
  std::size_t size_;
};

/// What the program on the host passes for a port: memory that the kernel reads, and may write.
template <class T>
class read_only_mmap : public mmap<T> {
 public:
  using mmap<T>::mmap;
};
template <class T>
class read_write_mmap : public mmap<T> {
 public:
  using mmap<T>::mmap;
};

/// Memory as cards take it, whole pages; any memory does here.
template <class T>
using aligned_allocator = std::allocator<T>;

/// Several streams, by number.
template <class T, int Count, int Depth = 2>
class streams {
 public:
  streams() = default;
  explicit streams(const char *name) {
    for (int i = 0; i < Count; ++i) streams_[i].set_name((std::string(name) + "[" + std::to_string(i) + "]").c_str());
  }
  stream<T, Depth> &operator[](int i) { return streams_[i]; }
  void simulated(const std::string &number, std::size_t depth) { allo_sim::declare(streams_, number, depth); }

 private:
  stream<T, Depth> streams_[Count];
};

/// What a task takes from an argument of `invoke`: the argument itself, or an end of a stream.
template <class Parameter>
struct taken {
  Parameter argument;
  Parameter get() { return static_cast<Parameter>(argument); }
};
template <class T>
struct taken<istream<T> &> {
  istream<T> end;
  istream<T> &get() { return end; }
};
template <class T>
struct taken<ostream<T> &> {
  ostream<T> end;
  ostream<T> &get() { return end; }
};

/// Tasks that run at the same time; all have ended where it does.
class task {
 public:
  template <class... Parameters, class... Arguments>
  task &invoke(void (*function)(Parameters...), Arguments &&...arguments) {
    std::tuple<Arguments...> kept(std::forward<Arguments>(arguments)...);
    tasks_.start({}, [function, kept]() mutable {
      std::apply([&](auto &...each) { function(taken<Parameters>{each}.get()...); }, kept);
    });
    return *this;
  }
  ~task() noexcept(false) { tasks_.end(); }

 private:
  allo_sim::region tasks_;
};

}  // namespace tapa

#include <allo_sim/tapa_invoke.h>

#endif
