// The functions by which allo/verify/concrete builds graphs, runs programs on them and reads what came out.
#include "GraphInterpreter.h"
#include "GraphNormalForm.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstring>

#define ALLO_EXPORT extern "C" __attribute__((visibility("default")))

using namespace allo::graph;
using llvm::APInt;

/// Null if there is no memory.
ALLO_EXPORT Graph *allo_graph_new(uint64_t limit, uint64_t bytes) {
  auto *graph = new Graph(limit, bytes);
  if (graph->hasMemory())
    return graph;
  delete graph;
  return nullptr;
}
ALLO_EXPORT void allo_graph_delete(Graph *graph) { delete graph; }
ALLO_EXPORT uint64_t allo_graph_size(const Graph *graph) { return graph->size(); }

ALLO_EXPORT uint32_t allo_graph_operator(Graph *graph, int kind, int arity, int commutative, int width, int type,
                                          int64_t extra) {
  return graph->addOperator({Kind(kind), commutative != 0, uint8_t(arity), uint16_t(width), uint32_t(type), extra});
}

ALLO_EXPORT Id allo_graph_constant(Graph *graph, int type, int width, const uint64_t *words) {
  return graph->constant(uint32_t(type), APInt(width, llvm::ArrayRef<uint64_t>(words, (width + 63) / 64)));
}

ALLO_EXPORT Id allo_graph_node(Graph *graph, uint32_t op, Id a, Id b, Id c) { return graph->node(op, a, b, c); }

/// Of `count` expressions: 1 if an element that nothing has written is in it, 2 if it is one.
ALLO_EXPORT void allo_graph_unwritten(const Graph *graph, const Id *ids, uint64_t count, uint8_t *told) {
  for (uint64_t k = 0; k < count; ++k)
    told[k] = graph->isUnwritten(ids[k]) ? 2 : graph->holdsUnwritten(ids[k]);
}

/// Operator and operands of a node.
ALLO_EXPORT void allo_graph_read(const Graph *graph, Id id, uint32_t *told) {
  const Node &node = graph->getNode(id);
  told[0] = node.op;
  std::memcpy(told + 1, node.operands, sizeof node.operands);
}

/// Type and width of a constant, and its words if `words` has room for them.
ALLO_EXPORT void allo_graph_read_constant(const Graph *graph, Id id, uint32_t *told, uint64_t *words, int room) {
  const Constant &constant = graph->getConstant(id);
  told[0] = constant.type;
  told[1] = constant.value.getBitWidth();
  if (int(constant.value.getNumWords()) <= room)
    std::memcpy(words, constant.value.getRawData(), constant.value.getNumWords() * 8);
}

/// For each of `count` expressions the number of its normal form; 0: kUndefined is in it. False: too large.
ALLO_EXPORT int allo_graph_normal_forms(Graph *graph, const Id *ids, uint64_t count, int reassociate,
                                        uint64_t most, double seconds, uint32_t *forms) {
  return normalForms(*graph, ids, count, reassociate != 0, most, seconds, forms);
}

ALLO_EXPORT Run *allo_run_new(Graph *graph, const int64_t *code, uint64_t length, const int64_t *registers,
                              uint64_t count, const uint64_t *sizes, const uint32_t *selects,
                              const uint32_t *unwritten, uint64_t arrays, uint32_t equal, uint32_t both) {
  std::vector<Array> made(arrays);
  for (uint64_t k = 0; k < arrays; ++k) {
    made[k].cells.assign(sizes[k], kUndefined);
    made[k].select = selects[k];
    made[k].unwritten = unwritten[k];
  }
  return new Run(*graph, {code, code + length}, {registers, registers + count}, std::move(made), equal, both);
}

ALLO_EXPORT void allo_run_delete(Run *run) { delete run; }
/// Remember for each element of an array which instruction writes it last (0: none).
ALLO_EXPORT void allo_run_track(Run *run, uint64_t array) {
  run->writersOf(array).assign(run->cellsOf(array).size(), 0);
}
ALLO_EXPORT uint32_t allo_run_writer(Run *run, uint64_t array, uint64_t cell) { return run->writersOf(array)[cell]; }
ALLO_EXPORT Id *allo_run_cells(Run *run, uint64_t array) { return run->cellsOf(array).data(); }

/// Let the array hold inputs: leaves made by `leaf`, then, if `extend` is not 0, put into wider containers by it.
ALLO_EXPORT void allo_run_inputs(Graph *graph, Run *run, uint64_t array, uint32_t leaf, uint32_t extend) {
  std::vector<Id> &cells = run->cellsOf(array);
  for (size_t k = 0; k < cells.size(); ++k) {
    cells[k] = graph->node(leaf, Id(k), Id(uint64_t(k) >> 32));
    if (extend)
      cells[k] = graph->node(extend, cells[k]);
  }
}

/// Continue the program; `told` gets the status, the instruction and three details.
ALLO_EXPORT void allo_run_resume(Run *run, uint64_t steps, int64_t *told) {
  const Stop &stop = run->resume(steps);
  told[0] = int64_t(stop.status);
  told[1] = stop.at;
  std::memcpy(told + 2, stop.details, sizeof stop.details);
}

ALLO_EXPORT int64_t allo_run_register(const Run *run, uint64_t number) { return run->valueOf(number); }

ALLO_EXPORT int64_t allo_run_escape_beyond(const Run *run, const Run *other) { return run->escapeBeyond(*other); }

ALLO_EXPORT int allo_run_left_over(const Run *run, uint64_t position, int64_t *told) {
  int64_t found[3];
  if (!run->leftOver(position, found))
    return 0;
  std::memcpy(told, found, sizeof found);
  return 1;
}
