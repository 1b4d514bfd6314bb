// The simulation of a kernel: regions whose processes are fibers, and streams that hold their depth. Its functions are
// in simulation.cpp, which is compiled once and linked to each kernel.
#ifndef ALLO_SIM_TURNS_H
#define ALLO_SIM_TURNS_H

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "allo_sim/fibers.h"

namespace allo_sim {

/// The simulation cannot go on; `report` says why.
struct hang {};

/// A call of a kernel: streams have a depth, and who waits gives way, while one of these is alive.
class simulation final : public scheduler {
 public:
  explicit simulation(std::size_t stack_bytes);
  ~simulation() override;
  [[noreturn]] void leave() override;

  /// The simulation of this thread, if there is one.
  static simulation *&running() {
    static thread_local simulation *one = nullptr;
    return one;
  }

  std::exception_ptr error;  // what a process has thrown
  std::string state_when_left;

 private:
  simulation *outer_;
};

/// What a stream is to those that read and write it. Before it is enrolled, nobody waits.
class stream_state {
 public:
  stream_state() = default;
  stream_state(const stream_state &) = delete;
  stream_state &operator=(const stream_state &) = delete;
  ~stream_state() {
    if (is_enrolled_) forget();
  }
  std::size_t count() const { return fifo_.count; }
  std::uint64_t puts() const { return fifo_.puts; }
  std::uint64_t gets() const { return fifo_.gets; }
  bool is_empty() { return is_enrolled_ ? simulation::running()->is_empty(fifo_) : fifo_.count == 0; }
  bool is_full(std::size_t depth) {
    if (is_enrolled_ && fifo_.depth != 0) return simulation::running()->is_full(fifo_);
    return depth != 0 && fifo_.count >= depth;
  }
  void has_put(std::uint32_t site) {
    if (is_enrolled_)
      fifo_.has_put(simulation::running()->running_fiber(), site);
    else
      fifo_.has_put();
  }
  void has_got(std::uint32_t site) {
    if (is_enrolled_)
      fifo_.has_got(simulation::running()->running_fiber(), site);
    else
      fifo_.has_got();
  }
  /// Whether there is an element now; if not, there never will be one.
  bool wait_for_element(std::uint32_t site) {
    return is_enrolled_ && simulation::running()->wait_for_element(fifo_, site);
  }
  void wait_for_room(std::uint32_t site) {
    if (fifo_.is_full()) simulation::running()->wait_for_room(fifo_, site);
  }
  void look(std::uint32_t site) {
    if (is_enrolled_) simulation::running()->look(fifo_, site);
  }
  /// Lets the stream hold `depth` elements, if it is in a simulation, whose reports call it `number`.
  void enrol(const std::string &number, std::size_t depth);

 private:
  fifo_state fifo_;
  bool is_enrolled_ = false;

  void forget();
};

/// The processes of a region, in the order of the text.
class region {
 public:
  region() = default;
  region(const region &) = delete;
  region &operator=(const region &) = delete;
  ~region() { clear(); }

  /// Starts a process that begins when those with the numbers in `after` have ended; reports know it by `name`.
  template <class Process>
  void start(std::initializer_list<std::size_t> after, Process process, task_name name = {}) {
    if (simulation::running() == nullptr) return process();
    spawn(after, new made<Process>(std::move(process)), name);
  }

  /// Waits for some of the processes.
  void await(std::initializer_list<std::size_t> numbers);

  /// Waits for all of them.
  void end();

 private:
  /// What a fiber runs.
  struct process {
    virtual ~process() = default;
    virtual void run() = 0;
  };
  template <class Process>
  struct made final : process {
    explicit made(Process given) : process_(std::move(given)) {}
    void run() override { process_(); }
    Process process_;
  };

  void spawn(std::initializer_list<std::size_t> after, process *owned, task_name name);
  void clear();
  static void run(void *process);

  std::vector<process *> processes_;
  group fibers_;
};

}  // namespace allo_sim

#endif
