// Expressions over the inputs of a program, each stored once: what a program computes, as far as it is concrete.
#pragma once

#include "llvm/ADT/APInt.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace allo::graph {

/// A node, or, with the highest bit set, a constant.
using Id = uint32_t;
constexpr Id kConstantBit = Id(1) << 31;
constexpr Id kUndefined = 0; // memory that nothing has written; a leaf of its own when it is read
constexpr Id kNone = kConstantBit - 1;
constexpr Id kUnwrittenBit = kConstantBit; // of a node's `user`: an element that nothing has written is in it

/// What folding and normal forms know of an operator. The numbers are those of allo/verify/concrete/operators.py.
enum class Kind : uint8_t {
  Opaque, Leaf, Select, Bitcast,
  AddF, SubF, MulF, NegF,
  Add, Sub, Mul, DivS, DivU, FloorDivS, CeilDivS, CeilDivU, RemS, RemU,
  And, Or, Xor, Shl, ShrS, ShrU, MinS, MaxS, MinU, MaxU,
  ExtS, ExtU, Trunc, Compare, FromSigned, FromUnsigned,
};

struct Operator {
  Kind kind;
  bool commutative;
  uint8_t arity;
  uint16_t width; // bits of the result
  uint32_t type;  // 0: integer, else a number for each float type
  int64_t extra;  // predicate of a comparison (as arith.cmpi), argument of a leaf (-1: memory that nothing has written)
};

struct Node {
  uint32_t op;
  Id operands[3];
  Id user; // the first node whose youngest operand this is; the others are in the hash table. kUnwrittenBit may be set
};

struct Constant {
  uint32_t type;
  llvm::APInt value;
};

class Graph {
public:
  /// At most `limit` nodes, and about `bytes` of memory for them. Not to be used unless `hasMemory`.
  Graph(uint64_t limit, uint64_t bytes);
  bool hasMemory() const { return nodes && table; }
  ~Graph();
  Graph(const Graph &) = delete;

  uint32_t addOperator(const Operator &op);
  const Operator &getOperator(uint32_t op) const { return operators[op]; }

  static bool isConstant(Id id) { return id & kConstantBit; }
  const Constant &getConstant(Id id) const { return constants[id & ~kConstantBit]; }
  const Node &getNode(Id id) const { return nodes[id]; }
  const Operator &operatorOf(Id id) const { return operators[nodes[id].op]; }
  unsigned widthOf(Id id) const {
    return isConstant(id) ? getConstant(id).value.getBitWidth() : operatorOf(id).width;
  }
  uint32_t typeOf(Id id) const { return isConstant(id) ? getConstant(id).type : operatorOf(id).type; }

  Id constant(uint32_t type, const llvm::APInt &value);
  Id integer(unsigned width, int64_t value) {
    return constant(0, llvm::APInt(64, value, true).sextOrTrunc(width));
  }
  /// Whether an element that nothing has written is in an expression.
  bool holdsUnwritten(Id id) const { return id == kUndefined || (!isConstant(id) && nodes[id].user & kUnwrittenBit); }
  /// Whether it is such an element, or some of its bits.
  bool isUnwritten(Id id) const;
  /// The value of an operator: a constant where operands are, else the one node of this form.
  Id node(uint32_t op, Id a, Id b = 0, Id c = 0);

  uint64_t size() const { return count; }
  bool isFull() const { return count >= limit; }

private:
  Id fold(const Operator &op, Id a, Id b, Id c) const;
  /// Bits low ... low + size - 1 of an integer, if they are a value that is there already.
  Id extract(Id id, unsigned low, unsigned size, unsigned depth);
  /// Of both sides of a choice; a choice of so many bits is made if there is an operator for it.
  Id extractOfSelect(Id id, unsigned low, unsigned size, unsigned depth);
  bool isSelectOf(Id id, Id condition) const {
    return id != kUndefined && !isConstant(id) && operatorOf(id).kind == Kind::Select &&
           nodes[id].operands[0] == condition;
  }
  bool isOneF(Id id) const;
  bool isZeroF(Id id, bool isNegative) const;
  Id intern(const Node &node);
  Id probe(const Node &node, Id youngest);
  void grow();

  std::vector<Operator> operators;
  std::vector<Constant> constants;
  std::unordered_multimap<uint64_t, Id> constantIds;
  std::unordered_map<unsigned, uint32_t> selects;  // of integers, by their width
  std::unordered_map<uint64_t, Id> extracted;      // of choices, which share most of what is in them
  Node *nodes;         // reserved for `limit` nodes, touched as they come
  uint64_t *table;     // hash << 32 | id; open addressing
  uint64_t slots = 0;  // a power of two
  uint64_t entered = 0; // in the table
  uint64_t count = 1;   // node 0 is kUndefined
  bool anyUnwritten = false;
  uint64_t limit, reserved, bytes;
};

uint64_t hashOf(const uint64_t *words, size_t count);

} // namespace allo::graph
