// How elements are loaded and stored; a subscript that is an expression selects among those that it may mean.
#include "GraphInterpreter.h"

using namespace allo::graph;

static constexpr uint64_t kMostSymbolicCells = 1024; // of an access whose subscript is not a number

/// Reads the subscripts, each `extent, constant, n, (coefficient, register) * n` or `extent, register, -1`.
const int64_t *Run::locate(const int64_t *dims, int64_t rank, Place &place, Stop &problem) const {
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent = dims[0], value = dims[1], terms = dims[2];
    dims += 3;
    if (terms < 0) {
      Id id = Id(registers[value]);
      if (!Graph::isConstant(id)) {
        place.symbolic = true;
        continue;
      }
      value = graph.getConstant(id).value.getSExtValue();
    }
    for (; terms > 0; --terms, dims += 2)
      value += dims[0] * registers[dims[1]];
    if (value < 0 || value >= extent) {
      place.inside = false;
      problem.details[0] = d, problem.details[1] = value, problem.details[2] = extent;
    }
    place.cell = place.cell * extent + value;
  }
  return dims;
}

/// A value of its own for each element of an array that nothing has written since the array was made.
Id Run::unwritten(size_t array, int64_t cell) {
  return graph.node(arrays[array].unwritten, Id(cell), arrays[array].generation); // no array has more than 1 << 32
}

// Load: register, array, rank, length, subscripts
bool Run::load(size_t at) {
  const int64_t *w = &code[at];
  Place place;
  Stop problem;
  locate(w + 5, w[3], place, problem);
  if (place.symbolic)
    return symbolicAccess(at, w + 5, w[3], false);
  if (!place.inside && !speculative)
    return stop(Status::OutOfBounds, at, problem.details[0], problem.details[1], problem.details[2]);
  registers[w[1]] = place.inside ? element(w[2], place.cell) : unwritten(w[2], place.cell);
  return place.inside || escape(at);
}

// Store: register, array, rank, length, subscripts
bool Run::store(size_t at) {
  const int64_t *w = &code[at];
  Place place;
  Stop problem;
  locate(w + 5, w[3], place, problem);
  if (place.symbolic)
    return symbolicAccess(at, w + 5, w[3], true);
  if (!place.inside)
    return stop(speculative ? Status::SymbolicStore : Status::OutOfBounds, at, problem.details[0],
                problem.details[1], problem.details[2]);
  write(uint32_t(w[2]), place.cell, Id(registers[w[1]]), at);
  return true;
}

/// 1 if `condition` implies `other`, -1 if it excludes it; both are conjunctions of `subscript == number`.
int Run::implied(Id condition, Id other) const {
  if (condition == other)
    return 1;
  if (Graph::isConstant(condition) || Graph::isConstant(other) || condition == kUndefined || other == kUndefined)
    return 0;
  const Node &x = graph.getNode(condition), &y = graph.getNode(other);
  if (x.op == both) {
    int left = implied(x.operands[0], other);
    return left ? left : implied(x.operands[1], other);
  }
  if (y.op == both) {
    int left = implied(condition, y.operands[0]), right = implied(condition, y.operands[1]);
    return left < 0 || right < 0 ? -1 : left && right;
  }
  bool comparable = x.op == equal && y.op == equal && x.operands[0] == y.operands[0] &&
                    Graph::isConstant(x.operands[1]) && Graph::isConstant(y.operands[1]);
  return comparable && x.operands[1] != y.operands[1] ? -1 : 0;
}

/// The value, or a simpler one that is the same where the condition holds.
Id Run::assume(Id value, Id condition, unsigned depth) {
  auto isSelect = [&] {
    return !Graph::isConstant(value) && value != kUndefined && graph.operatorOf(value).kind == Kind::Select;
  };
  while (isSelect()) {
    const Node &node = graph.getNode(value);
    int known = implied(condition, node.operands[0]);
    if (known == 0)
      break;
    value = known > 0 ? node.operands[1] : node.operands[2];
  }
  if (depth == 0 || Graph::isConstant(value) || value == kUndefined || graph.operatorOf(value).kind == Kind::Leaf)
    return value;
  Node node = graph.getNode(value);
  bool changed = false;
  for (unsigned k = 0; k < graph.operatorOf(value).arity; ++k) {
    Id simpler = assume(node.operands[k], condition, depth - 1);
    changed |= simpler != node.operands[k];
    node.operands[k] = simpler;
  }
  return changed ? graph.node(node.op, node.operands[0], node.operands[1], node.operands[2]) : value;
}

/// Selects among all elements that a subscript may mean.
bool Run::symbolicAccess(size_t at, const int64_t *dims, int64_t rank, bool isStore) {
  const int64_t *words = &code[at];
  std::vector<std::pair<uint64_t, Id>> cells{{0, trueId}};
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent = dims[0], value = dims[1], terms = dims[2];
    dims += 3;
    bool symbolic = terms < 0 && !Graph::isConstant(Id(registers[value]));
    Id subscript = symbolic ? Id(registers[value]) : kUndefined;
    if (terms < 0 && !symbolic)
      value = graph.getConstant(Id(registers[value])).value.getSExtValue();
    for (; terms > 0; --terms, dims += 2)
      value += dims[0] * registers[dims[1]];
    if (symbolic ? cells.size() * uint64_t(extent) > kMostSymbolicCells : value < 0 || value >= extent)
      return stop(symbolic ? Status::SymbolicSubscript : Status::OutOfBounds, at, d, symbolic ? 0 : value, extent);
    std::vector<std::pair<uint64_t, Id>> next;
    for (auto [cell, condition] : cells) {
      if (!symbolic)
        next.emplace_back(cell * extent + value, condition);
      for (int64_t k = 0; symbolic && k < extent; ++k) {
        Id here = graph.node(equal, subscript, graph.integer(64, k));
        Id all = condition == trueId ? here : graph.node(both, condition, here);
        next.emplace_back(cell * extent + k, all);
      }
    }
    cells = std::move(next);
  }
  uint32_t select = arrays[words[2]].select;
  Id value = isStore ? Id(registers[words[1]]) : kUndefined;
  for (size_t k = cells.size(); k-- > 0;) {
    auto [cell, condition] = cells[k];
    Id there = element(words[2], cell);
    if (isStore)
      write(words[2], cell, graph.node(select, condition, assume(value, condition, 4), there), at);
    else
      value = k + 1 == cells.size() ? there : graph.node(select, condition, there, value);
  }
  if (!isStore)
    registers[words[1]] = value;
  return true;
}
