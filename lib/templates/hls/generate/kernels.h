// The kernels that say tokens, and what the host does with each of their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

enum class Role { token, position, scores, state, weight };

struct Argument {
  const char *name;
  Role role;
  std::size_t bytes;
};

struct Kernel {
  const char *name;
  std::size_t tokens;  // in one call
  std::vector<Argument> arguments;
};

using Token = @TOKEN@;
using Position = @POSITION@;
using Score = @SCORE@;
static const std::size_t VOCABULARY = @VOCABULARY@;
static const std::size_t POSITIONS = @POSITIONS@;

@KERNELS@
