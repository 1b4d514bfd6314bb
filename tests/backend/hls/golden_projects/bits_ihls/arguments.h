// The arguments of the kernel in its order; README.md says what their files hold.
#pragma once

#include <cstddef>

enum class Kind { memory, number };
enum class Element { bits, single, twice };  // single and twice: float and double

struct Argument {
  const char *name;
  Kind kind;
  Element element;
  bool read;     // the kernel reads it: data/<name>.bin
  bool written;  // the kernel writes it: data/<name>.out.bin
  std::size_t bytes;
};

static const char *const KERNEL = "bits";
// ended by an entry without a name
static const Argument ARGUMENTS[] = {
    {"a", Kind::number, Element::bits, true, false, 1},
    {"w", Kind::number, Element::bits, true, false, 1},
    {"n", Kind::number, Element::bits, true, false, 4},
    {"result0", Kind::memory, Element::bits, false, true, 1},
    {"result1", Kind::memory, Element::bits, false, true, 4},
    {nullptr, Kind::number, Element::bits, false, false, 0},
};
