// Runs a program on expressions: loops, subscripts and memory are concrete, the values in memory are nodes of a graph.
#pragma once

#include "ComputationGraph.h"

#include <map>
#include <string>

namespace allo::graph {

/// The instructions: one word each for the code and its operands. The numbers are those of
/// allo/verify/concrete/bytecode.py, which describes the operands.
enum class Code : int64_t {
  Halt, Linear, Binary, Jump, JumpIf, For, Next, Move,
  ToNode, ToNumber, Node1, Node2, Node3,
  Allocate, Load, Store, Copy, If, Yield, Condition,
  NewStream, NewStreams, Put, Get, LoadInside, StoreInside, Peek,
};

enum class Status : int64_t {
  Done, Paused, TooManyNodes, OutOfBounds, EmptyStream, SymbolicNumber, SymbolicStream, SymbolicSubscript,
  SymbolicCondition, Undefined, SymbolicStore, TooLong,
};

struct Array {
  std::vector<Id> cells;
  uint32_t select; // the operator that selects between two elements
  uint32_t unwritten = 0; // the leaf for elements that nothing has written
  uint32_t generation = 0; // how often the array was made
  std::vector<uint32_t> writers; // the instruction that wrote each element last; empty if nobody asks
};

struct Stream {
  int64_t origin; // the instruction that made it
  int64_t index;  // among those that were made at once
  std::vector<Id> elements;
  size_t head = 0;
};

struct Stop {
  Status status = Status::Done;
  int64_t at = 0;              // the instruction
  int64_t details[3] = {0, 0, 0}; // subscript: dimension, value, extent; stream: origin, index
};

class Run {
public:
  /// `equal` and `both` are the operators i64 == i64 and i1 and i1.
  Run(Graph &graph, std::vector<int64_t> code, std::vector<int64_t> registers, std::vector<Array> arrays,
      uint32_t equal, uint32_t both)
      : equal(equal), both(both), trueId(graph.constant(0, llvm::APInt(1, 1))), graph(graph), code(std::move(code)),
        registers(std::move(registers)), arrays(std::move(arrays)) {}

  /// Continue, for at most about `steps` turns of loops.
  const Stop &resume(uint64_t steps);

  std::vector<Id> &cellsOf(size_t array) { return arrays[array].cells; }
  std::vector<uint32_t> &writersOf(size_t array) { return arrays[array].writers; }
  int64_t valueOf(size_t number) const { return registers[number]; }
  /// Streams that hold elements: for the `position`-th one origin, index, and how many; false behind the last.
  bool leftOver(size_t position, int64_t (&told)[3]) const;
  /// An instruction that reads outside of an array in a branch, under conditions under which the other program, of the
  /// same graph, does not leave any; -1 if there is none.
  int64_t escapeBeyond(const Run &other) const;

private:
  struct Written {
    uint32_t array;
    uint64_t cell;
    Id before;
  };
  struct Place { // of an access
    int64_t cell = 0;
    bool inside = true, symbolic = false;
  };

  bool execute(size_t from, size_t until);
  bool stop(Status status, size_t at, int64_t a = 0, int64_t b = 0, int64_t c = 0);
  const int64_t *locate(const int64_t *dims, int64_t rank, Place &place, Stop &problem) const;
  bool load(size_t at);
  bool store(size_t at);
  bool symbolicAccess(size_t at, const int64_t *dims, int64_t rank, bool isStore);
  bool branch(size_t &at);
  bool bothBranches(size_t at);
  bool turn(size_t at);
  bool stream(size_t at);
  bool control(size_t &at, size_t until, bool &ended);
  bool compute(size_t &at);
  bool escape(size_t at);
  Id element(size_t array, uint64_t cell) {
    Id id = arrays[array].cells[cell];
    return id == kUndefined ? unwritten(array, int64_t(cell)) : id;
  }
  Id unwritten(size_t array, int64_t cell);
  void write(uint32_t array, uint64_t cell, Id value, size_t at);
  int implied(Id condition, Id other) const;
  Id assume(Id value, Id condition, unsigned depth);
  Id newStream(size_t at, int64_t index);

  uint32_t equal, both;
  Id trueId;
  Graph &graph;
  std::vector<int64_t> code, registers;
  std::vector<Array> arrays;
  std::vector<Stream> streams;
  std::vector<Written> log; // while branches are speculative
  unsigned speculative = 0;
  std::vector<uint64_t> path; // the conditions of branches that are run: id << 1 | side
  std::map<std::vector<uint64_t>, size_t> escapes; // reads outside of arrays: their conditions, the instruction
  uint64_t budget = 0, overrun = 0;
  std::vector<int64_t> moved; // scratch
  size_t position = 0;
  Stop stopped;
};

} // namespace allo::graph
