// The part of a simulation that is the same for all kernels.
#include "allo_sim/turns.h"

#include "allo_sim/fibers.cpp"

namespace allo_sim {

simulation::simulation(std::size_t stack_bytes) : scheduler(stack_bytes), outer_(running()) { running() = this; }

simulation::~simulation() { running() = outer_; }

void simulation::leave() {
  state_when_left = state();  // its fibers are about to go
  if (error) std::rethrow_exception(error);
  throw hang();
}

void stream_state::enrol(const std::string &number, std::size_t depth) {
  if (simulation::running() == nullptr) return;
  is_enrolled_ = true;
  fifo_ = fifo_state(depth);
  fifo_.name = number;
  simulation::running()->enrol(fifo_);
}

void stream_state::forget() {
  if (simulation::running() != nullptr) simulation::running()->forget(fifo_);
}

void region::spawn(std::initializer_list<std::size_t> after, process *owned, task_name name) {
  processes_.push_back(owned);
  simulation::running()->spawn(fibers_, run, owned, after, name);
}

void region::await(std::initializer_list<std::size_t> numbers) {
  if (simulation::running() == nullptr) return;
  for (std::size_t number : numbers) simulation::running()->await(fibers_, number);
}

void region::end() {
  if (simulation::running() == nullptr) return;
  simulation::running()->join(fibers_);
  clear();
}

void region::clear() {
  for (process *one : processes_) delete one;
  processes_.clear();
}

void region::run(void *process) {
  simulation *here = simulation::running();
  try {
    static_cast<region::process *>(process)->run();
  } catch (...) {
    here->error = std::current_exception();
  }
  if (here->error) here->fail();
}

}  // namespace allo_sim
