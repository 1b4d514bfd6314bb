// How programs run on expressions. Of an `if` on a symbolic condition both branches run; what they write is selected.
#include "GraphInterpreter.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>
#include <map>

using namespace allo::graph;
using llvm::APInt;

static constexpr size_t kMostEscapes = 4096; // of a program, under different conditions

bool Run::stop(Status status, size_t at, int64_t a, int64_t b, int64_t c) {
  stopped = {status, int64_t(at), {a, b, c}};
  return false;
}

const Stop &Run::resume(uint64_t steps) {
  budget = steps;
  stopped = {};
  if (execute(position, code.size()) && graph.isFull())
    stop(Status::TooManyNodes, position);
  return stopped;
}

bool Run::leftOver(size_t position, int64_t (&told)[3]) const {
  for (const Stream &stream : streams) {
    size_t left = stream.elements.size() - stream.head;
    if (left && position-- == 0) {
      told[0] = stream.origin, told[1] = stream.index, told[2] = int64_t(left);
      return true;
    }
  }
  return false;
}

void Run::write(uint32_t array, uint64_t cell, Id value, size_t at) {
  Array &written = arrays[array];
  Id &there = written.cells[cell];
  if (speculative)
    log.push_back({array, cell, there});
  there = value;
  if (!written.writers.empty())
    written.writers[cell] = uint32_t(at);
}

static int64_t binary(int64_t kind, int64_t a, int64_t b, bool &defined) {
  auto wrapped = [](uint64_t x) { return int64_t(x); };
  switch (kind) {
  case 0: return wrapped(uint64_t(a) + uint64_t(b));
  case 1: return wrapped(uint64_t(a) - uint64_t(b));
  case 2: return wrapped(uint64_t(a) * uint64_t(b));
  case 3: return std::min(a, b);
  case 4: return std::max(a, b);
  default: break;
  }
  if (b == 0 || (b == -1 && a == INT64_MIN)) {
    defined = false;
    return 0;
  }
  int64_t quotient = a / b, rest = a % b;
  bool below = rest && (rest < 0) != (b < 0);
  switch (kind) {
  case 5: return quotient - below;                        // floordiv
  case 6: return quotient + (rest && !below);             // ceildiv
  default: return below ? rest + b : rest;                // mod
  }
}

/// Remembers under which conditions the program leaves an array.
bool Run::escape(size_t at) {
  std::vector<uint64_t> conditions = path;
  std::sort(conditions.begin(), conditions.end());
  conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
  escapes.try_emplace(std::move(conditions), at);
  return escapes.size() < kMostEscapes || stop(Status::TooLong, at);
}

int64_t Run::escapeBeyond(const Run &other) const {
  for (const auto &[conditions, at] : escapes) {
    bool allowed = other.escapes.count(conditions) || llvm::any_of(other.escapes, [&](const auto &known) {
      return std::includes(conditions.begin(), conditions.end(), known.first.begin(), known.first.end());
    });
    if (!allowed)
      return int64_t(at);
  }
  return -1;
}

//===-- streams -----------------------------------------------------------===//

Id Run::newStream(size_t at, int64_t index) {
  streams.push_back({int64_t(at), index, {}, 0});
  return graph.integer(64, int64_t(streams.size() - 1));
}

// NewStream: register. NewStreams: array. Others: register of the handle, array that the element travels in.
bool Run::stream(size_t at) {
  const int64_t *w = &code[at];
  if (speculative)
    return stop(Status::SymbolicStream, at);
  if (Code(w[0]) == Code::NewStream) {
    registers[w[1]] = newStream(at, 0);
    return true;
  }
  if (Code(w[0]) == Code::NewStreams) {
    std::vector<Id> &cells = arrays[w[1]].cells;
    for (size_t k = 0; k < cells.size(); ++k)
      cells[k] = newStream(at, int64_t(k));
    return true;
  }
  Id handle = Id(registers[w[1]]);
  if (!Graph::isConstant(handle) || graph.getConstant(handle).value.uge(streams.size()))
    return stop(Status::SymbolicStream, at);
  Stream &used = streams[graph.getConstant(handle).value.getZExtValue()];
  if (Code(w[0]) == Code::Put) {
    used.elements.push_back(element(w[2], 0));
    return true;
  }
  if (used.head == used.elements.size())
    return stop(Status::EmptyStream, at, used.origin, used.index);
  arrays[w[2]].cells[0] = used.elements[used.head];
  if (Code(w[0]) == Code::Peek)
    return true;
  ++used.head;
  if (used.head == used.elements.size())
    used.elements.clear(), used.head = 0;
  return true;
}

//===-- branches ----------------------------------------------------------===//

// If: condition, else, end, n, (result, then, else, select operator) * n. `then` follows; both end in Yield.
bool Run::branch(size_t &at) {
  const int64_t *words = &code[at];
  Id condition = Id(registers[words[1]]);
  if (!Graph::isConstant(condition)) {
    if (!bothBranches(at))
      return false;
    at = words[3];
    return true;
  }
  at = graph.getConstant(condition).value.isZero() ? words[2] : at + 5 + 4 * words[4];
  return true;
}

bool Run::bothBranches(size_t at) {
  const int64_t *words = &code[at];
  Id condition = Id(registers[words[1]]);
  size_t starts[2] = {at + 5 + 4 * size_t(words[4]), size_t(words[2])};
  size_t base = log.size();
  std::map<std::pair<uint32_t, uint64_t>, std::array<Id, 3>> cells; // before, then, else
  ++speculative;
  for (int side = 0; side < 2; ++side) {
    // A branch ends behind its Yield, which jumps to the end of the whole; it is stopped there.
    path.push_back(uint64_t(condition) << 1 | side);
    bool ended = execute(starts[side], side ? words[3] : words[2]);
    path.pop_back();
    if (!ended)
      return false;
    for (size_t k = base; k < log.size(); ++k) {
      const Written &w = log[k];
      Id now = arrays[w.array].cells[w.cell];
      auto found = cells.try_emplace({w.array, w.cell}, std::array<Id, 3>{w.before, w.before, w.before}).first;
      found->second[1 + side] = now;
    }
    while (log.size() > base) {
      arrays[log.back().array].cells[log.back().cell] = log.back().before;
      log.pop_back();
    }
  }
  --speculative;
  for (const auto &[place, values] : cells) {
    if (values[1] == values[0] && values[2] == values[0])
      continue;
    uint32_t select = arrays[place.first].select;
    auto named = [&](Id id) { return id == kUndefined ? element(place.first, place.second) : id; };
    write(place.first, place.second, graph.node(select, condition, named(values[1]), named(values[2])), at);
  }
  for (int64_t k = 0; k < words[4]; ++k) {
    const int64_t *result = words + 5 + 4 * k;
    registers[result[0]] =
        graph.node(uint32_t(result[3]), condition, Id(registers[result[1]]), Id(registers[result[2]]));
  }
  return true;
}

//===-- the loop ----------------------------------------------------------===//

static constexpr uint64_t kMostSpeculativeTurns = 50'000'000;

/// A turn of a loop: false if it is time to stop.
bool Run::turn(size_t at) {
  if (graph.isFull())
    return stop(Status::TooManyNodes, at);
  if (speculative)
    return ++overrun < kMostSpeculativeTurns || stop(Status::TooLong, at);
  if (budget == 0) {
    position = at;
    return stop(Status::Paused, at);
  }
  --budget;
  return true;
}

bool Run::control(size_t &at, size_t until, bool &ended) {
  const int64_t *w = &code[at];
  int64_t *r = registers.data();
  switch (Code(w[0])) {
  case Code::Jump: // target
    at = w[1];
    return true;
  case Code::JumpIf: // register, kind (0: < 0, 1: != 0), target
    at = (w[2] == 0 ? r[w[1]] < 0 : r[w[1]] != 0) ? w[3] : at + 4;
    return true;
  case Code::Condition: // register, behind the loop
    if (!Graph::isConstant(Id(r[w[1]])))
      return stop(Status::SymbolicCondition, at);
    if (!turn(at))
      return false;
    at = graph.getConstant(Id(r[w[1]])).value.isZero() ? w[2] : at + 3;
    return true;
  case Code::Yield: // end, n, (result, source) * n
    ended = at + 3 + 2 * size_t(w[2]) == until; // of a branch that is run on its own
    for (int64_t k = 0; k < w[2] && !ended; ++k)
      r[w[3 + 2 * k]] = r[w[4 + 2 * k]];
    at = w[1];
    return true;
  case Code::Move: // n, (result, source) * n: all at once
    moved.clear();
    for (int64_t k = 0; k < w[1]; ++k)
      moved.push_back(r[w[3 + 2 * k]]);
    for (int64_t k = 0; k < w[1]; ++k)
      r[w[2 + 2 * k]] = moved[k];
    at += 2 + 2 * w[1];
    return true;
  default: // Halt
    position = code.size();
    ended = true;
    return true;
  }
}

/// What is not in every innermost loop.
bool Run::compute(size_t &at) {
  const int64_t *w = &code[at];
  int64_t *r = registers.data();
  bool defined = true;
  switch (Code(w[0])) {
  case Code::Binary: // result, kind, left, right
    r[w[1]] = binary(w[2], r[w[3]], r[w[4]], defined);
    at += 5;
    return defined || stop(Status::Undefined, at - 5);
  case Code::ToNumber: // result, register
    if (!Graph::isConstant(Id(r[w[2]])))
      return stop(Status::SymbolicNumber, at);
    r[w[1]] = graph.getConstant(Id(r[w[2]])).value.getSExtValue();
    at += 3;
    return true;
  case Code::Allocate: // array
    std::fill(arrays[w[1]].cells.begin(), arrays[w[1]].cells.end(), kUndefined);
    ++arrays[w[1]].generation;
    at += 2;
    return true;
  case Code::Copy: // source, target
    for (size_t k = 0; k < arrays[w[1]].cells.size(); ++k)
      write(uint32_t(w[2]), k, element(w[1], k), at);
    at += 3;
    return true;
  default:
    at += Code(w[0]) >= Code::Put ? 3 : 2;
    return stream(size_t(w - code.data()));
  }
}

bool Run::execute(size_t from, size_t until) {
  int64_t *r = registers.data();
  for (size_t at = from; at < until;) {
    const int64_t *w = &code[at];
    switch (Code(w[0])) {
    case Code::Linear: { // result, constant, n, (coefficient, register) * n
      int64_t value = w[2];
      for (int64_t k = 0; k < w[3]; ++k)
        value += w[4 + 2 * k] * r[w[5 + 2 * k]];
      r[w[1]] = value;
      at += 4 + 2 * w[3];
      break;
    }
    case Code::For: // variable, lower, upper, step, behind
      if (r[w[4]] <= 0)
        return stop(Status::Undefined, at);
      r[w[1]] = r[w[2]];
      at = r[w[1]] < r[w[3]] ? at + 6 : w[5];
      break;
    case Code::Next: // variable, upper, step, body
      if (!turn(at))
        return false;
      r[w[1]] += r[w[3]];
      at = r[w[1]] < r[w[2]] ? w[4] : at + 5;
      break;
    case Code::ToNode: // result, register, width
      r[w[1]] = graph.integer(unsigned(w[3]), r[w[2]]);
      at += 4;
      break;
    case Code::Node1: // result, operator, operands
      r[w[1]] = graph.node(uint32_t(w[2]), Id(r[w[3]]));
      at += 4;
      break;
    case Code::Node2:
      r[w[1]] = graph.node(uint32_t(w[2]), Id(r[w[3]]), Id(r[w[4]]));
      at += 5;
      break;
    case Code::Node3:
      r[w[1]] = graph.node(uint32_t(w[2]), Id(r[w[3]]), Id(r[w[4]]), Id(r[w[5]]));
      at += 6;
      break;
    case Code::Load:
      if (!load(at))
        return false;
      at += w[4];
      break;
    case Code::Store:
      if (!store(at))
        return false;
      at += w[4];
      break;
    case Code::LoadInside:
    case Code::StoreInside: { // register, array, constant, n, (coefficient, register) * n
      int64_t cell = w[3];
      for (int64_t k = 0; k < w[4]; ++k)
        cell += w[5 + 2 * k] * r[w[6 + 2 * k]];
      if (Code(w[0]) == Code::LoadInside)
        r[w[1]] = element(w[2], uint64_t(cell));
      else
        write(uint32_t(w[2]), uint64_t(cell), Id(r[w[1]]), at);
      at += 5 + 2 * w[4];
      break;
    }
    case Code::If:
      if (!branch(at))
        return false;
      break;
    case Code::Halt:
    case Code::Jump:
    case Code::JumpIf:
    case Code::Move:
    case Code::Yield:
    case Code::Condition: {
      bool ended = false;
      if (!control(at, until, ended))
        return false;
      if (ended)
        return true;
      break;
    }
    default:
      if (!compute(at))
        return false;
    }
  }
  return true;
}
