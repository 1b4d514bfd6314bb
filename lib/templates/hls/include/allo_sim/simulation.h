// Dataflow regions and the state of streams. In a simulation, which is compiled with ALLO_SIM_TURNS, processes take
// turns and streams hold their depth. Elsewhere processes run one after the other, and nobody waits.
#ifndef ALLO_SIM_SIMULATION_H
#define ALLO_SIM_SIMULATION_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#ifdef ALLO_SIM_TURNS
#include "allo_sim/turns.h"
#else
#include "allo_sim/no_turns.h"
#endif

namespace allo_sim {

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
