// Decides what a check of a debug build is in C++: an exception that says which one failed, on which numbers.
#ifndef ALLO_SIM_REQUIRE_H
#define ALLO_SIM_REQUIRE_H

#include <cstdint>

#include "allo_sim/errors.h"

namespace allo_sim {

/// A check failed. The text is for the caller: a mark that no other message starts with, the number of the check, and
/// the values that it shows.
class check_failed : public simulation_error {
 public:
  using simulation_error::simulation_error;
};

[[noreturn, gnu::cold, gnu::noinline]] inline void fail_check(int site, std::int64_t a, std::int64_t b, std::int64_t c,
                                                              std::int64_t d) {
  std::string text = "\x01" + std::to_string(site);
  for (std::int64_t value : {a, b, c, d}) text += " " + std::to_string(value);
  throw check_failed(text);
}

inline void require(bool holds, int site, std::int64_t a = 0, std::int64_t b = 0, std::int64_t c = 0,
                    std::int64_t d = 0) {
  if (!holds) fail_check(site, a, b, c, d);
}

}  // namespace allo_sim

#endif
