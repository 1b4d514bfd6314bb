// Decides what stops a simulated kernel: C++ exceptions with a sentence, which the caller turns into its own.
#ifndef ALLO_SIM_ERRORS_H
#define ALLO_SIM_ERRORS_H

#include <stdexcept>
#include <string>

namespace allo_sim {

/// A kernel did what hardware gives no meaning to: read an empty stream, divided by zero, took bits that are not there.
class simulation_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A stream was read that had no element.
class stream_error : public simulation_error {
 public:
  using simulation_error::simulation_error;
};

[[noreturn, gnu::cold, gnu::noinline]] inline void division_by_zero() {
  throw simulation_error("division by zero");
}

[[noreturn, gnu::cold, gnu::noinline]] inline void no_such_bit(int index, int width) {
  throw simulation_error("there is no bit " + std::to_string(index) + " in a number of " + std::to_string(width) +
                         " bits");
}

[[noreturn, gnu::cold, gnu::noinline]] inline void not_a_number(const std::string &text, int radix) {
  throw simulation_error("\"" + text + "\" is not an integer in base " + std::to_string(radix));
}

[[noreturn, gnu::cold, gnu::noinline]] inline void empty_stream(const std::string &name, unsigned long long elements) {
  throw stream_error("the stream " + (name.empty() ? std::string("without name") : "'" + name + "'") +
                     " is empty where it is read, after " + std::to_string(elements) +
                     " elements; its writer puts too few, or comes later than its reader");
}

/// `index`, or an exception if a number of `width` bits has no such bit.
constexpr int checked_bit(int index, int width) {
  if (index < 0 || index >= width) no_such_bit(index, width);
  return index;
}

}  // namespace allo_sim

#endif
