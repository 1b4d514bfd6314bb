// Decides what a dataflow region is in a simulation: processes that take turns, joined by streams that hold their depth.
#ifndef ALLO_SIM_SIMULATION_H
#define ALLO_SIM_SIMULATION_H

#include <cstddef>
#include <exception>
#include <functional>
#include <initializer_list>
#include <list>
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
  explicit simulation(std::size_t stack_bytes) : scheduler(stack_bytes), outer_(running()) { running() = this; }
  ~simulation() override { running() = outer_; }
  [[noreturn]] void leave() override {
    state_when_left = state();  // its fibers are about to go
    if (error) std::rethrow_exception(error);
    throw hang();
  }

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

/// The processes of a region, in the order of the text.
class region {
 public:
  region() = default;
  region(const region &) = delete;
  region &operator=(const region &) = delete;

  /// Starts a process that begins when those with the numbers in `after` have ended; reports know it by `name`.
  void start(std::initializer_list<std::size_t> after, std::function<void()> process, task_name name = {}) {
    simulation *here = simulation::running();
    if (here == nullptr) return process();
    processes_.push_back(std::move(process));
    here->spawn(fibers_, run, &processes_.back(), after, name);
  }

  /// Waits for some of the processes.
  void await(std::initializer_list<std::size_t> numbers) {
    if (simulation::running() == nullptr) return;
    for (std::size_t number : numbers) simulation::running()->await(fibers_, number);
  }

  /// Waits for all of them.
  void end() {
    if (simulation::running() == nullptr) return;
    simulation::running()->join(fibers_);
    processes_.clear();
  }

 private:
  static void run(void *process) {
    simulation *here = simulation::running();
    try {
      (*static_cast<std::function<void()> *>(process))();
    } catch (...) {
      here->error = std::current_exception();
    }
    if (here->error) here->fail();
  }

  std::list<std::function<void()>> processes_;
  group fibers_;
};

/// Gives a stream its number in the program and its depth.
template <class Stream>
void declare(Stream &stream, const std::string &number, std::size_t depth) {
  stream.simulated(number, depth);
}

template <class Stream>
void declare_element(Stream &stream, const std::string &number, std::size_t depth, std::size_t &index) {
  stream.simulated(number + " " + std::to_string(index++), depth);
}
template <class Stream, std::size_t Count>
void declare_element(Stream (&streams)[Count], const std::string &number, std::size_t depth, std::size_t &index) {
  for (Stream &stream : streams) declare_element(stream, number, depth, index);
}

/// The same for each of an array of streams, which are counted row by row.
template <class Stream, std::size_t Count>
void declare(Stream (&streams)[Count], const std::string &number, std::size_t depth) {
  std::size_t index = 0;
  declare_element(streams, number, depth, index);
}

}  // namespace allo_sim

#endif
