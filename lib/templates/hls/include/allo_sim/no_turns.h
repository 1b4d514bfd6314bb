// Regions and the state of streams where there is no simulation: what is written before it is read is all there.
#ifndef ALLO_SIM_NO_TURNS_H
#define ALLO_SIM_NO_TURNS_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace allo_sim {

/// What a stream is to those that read and write it.
class stream_state {
 public:
  std::size_t count() const { return count_; }
  std::uint64_t puts() const { return puts_; }
  std::uint64_t gets() const { return puts_ - count_; }
  bool is_empty() { return count_ == 0; }
  bool is_full(std::size_t depth) { return depth != 0 && count_ >= depth; }
  void has_put(std::uint32_t) { ++count_, ++puts_; }
  void has_got(std::uint32_t) { --count_; }
  /// Nobody puts an element while somebody waits for one.
  bool wait_for_element(std::uint32_t) { return false; }
  void wait_for_room(std::uint32_t) {}
  void look(std::uint32_t) {}
  void enrol(const std::string &, std::size_t) {}

 private:
  std::size_t count_ = 0;
  std::uint64_t puts_ = 0;
};

/// What reports of a simulation call a process.
struct task_name {
  std::int64_t statement = -1, element = 0;
};

/// The processes of a region, in the order of the text.
class region {
 public:
  template <class Process>
  void start(std::initializer_list<std::size_t>, Process process, task_name = {}) {
    process();
  }
  void await(std::initializer_list<std::size_t>) {}
  void end() {}
};

}  // namespace allo_sim

#endif
