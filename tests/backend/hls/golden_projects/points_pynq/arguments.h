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

static const char *const KERNEL = "points_top";
// ended by an entry without a name
static const Argument ARGUMENTS[] = {
    {"ps", Kind::memory, Element::bits, true, true, 32},
    {"by", Kind::number, Element::bits, true, false, 1},
    {"result", Kind::memory, Element::bits, false, true, 1},
    {nullptr, Kind::number, Element::bits, false, false, 0},
};
