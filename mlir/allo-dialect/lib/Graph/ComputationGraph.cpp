// How expressions are stored once: folding of constants in exact widths, and a hash table over nodes.
#include "ComputationGraph.h"

#include <algorithm>
#include <sys/mman.h>

using namespace allo::graph;
using llvm::APInt;

constexpr size_t kMostExtracted = 1 << 20; // some 40 MB
constexpr unsigned kMostSteps = 1 << 14;   // through writes of one word

static uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

uint64_t allo::graph::hashOf(const uint64_t *words, size_t count) {
  uint64_t hash = count;
  for (size_t i = 0; i < count; ++i)
    hash = mix(hash ^ words[i]) + i;
  return hash;
}

/// Null if the system has not so much memory to promise.
static void *reserve(uint64_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

Graph::Graph(uint64_t limit, uint64_t bytes) : limit(limit), reserved(limit + 1), bytes(bytes) {
  nodes = static_cast<Node *>(reserve(reserved * sizeof(Node)));
  slots = 1 << 12;
  table = static_cast<uint64_t *>(reserve(slots * sizeof(uint64_t)));
  operators.push_back({Kind::Opaque, false, 0, 0, 0, 0}); // of kUndefined
  if (nodes)
    nodes[0] = {0, {0, 0, 0}, 0};
}

Graph::~Graph() {
  if (nodes)
    munmap(nodes, reserved * sizeof(Node));
  if (table)
    munmap(table, slots * sizeof(uint64_t));
}

uint32_t Graph::addOperator(const Operator &op) {
  if (op.kind == Kind::Select && op.type == 0)
    selects.emplace(op.width, operators.size());
  operators.push_back(op);
  return operators.size() - 1;
}

Id Graph::constant(uint32_t type, const APInt &value) {
  uint64_t hash = mix(hashOf(value.getRawData(), value.getNumWords()) ^ (uint64_t(type) << 32 | value.getBitWidth()));
  auto [first, last] = constantIds.equal_range(hash);
  for (; first != last; ++first) {
    const Constant &known = getConstant(first->second);
    if (known.type == type && known.value.getBitWidth() == value.getBitWidth() && known.value == value)
      return first->second;
  }
  Id id = kConstantBit | Id(constants.size());
  constants.push_back({type, value});
  constantIds.emplace(hash, id);
  return id;
}

void Graph::grow() {
  uint64_t larger = slots * 2;
  if (count * sizeof(Node) + (slots + larger) * sizeof(uint64_t) > bytes) {
    limit = count; // full; the table has room for no more
    return;
  }
  auto *moved = static_cast<uint64_t *>(reserve(larger * sizeof(uint64_t)));
  if (!moved) {
    limit = count;
    return;
  }
  for (uint64_t i = 0; i < slots; ++i) {
    if (!table[i])
      continue;
    uint64_t slot = (table[i] >> 32) & (larger - 1);
    while (moved[slot])
      slot = (slot + 1) & (larger - 1);
    moved[slot] = table[i];
  }
  munmap(table, slots * sizeof(uint64_t));
  table = moved;
  slots = larger;
}

static bool isSame(const Node &a, const Node &b) {
  return a.op == b.op && a.operands[0] == b.operands[0] && a.operands[1] == b.operands[1] &&
         a.operands[2] == b.operands[2];
}

/// Most nodes are the only ones that use their youngest operand: these are found there, near in memory.
Id Graph::intern(const Node &node) {
  Id youngest = kUndefined;
  if (operators[node.op].kind != Kind::Leaf)
    for (Id operand : node.operands)
      if (!isConstant(operand) && operand > youngest)
        youngest = operand;
  if (youngest == kUndefined)
    return probe(node, youngest);
  Id user = nodes[youngest].user & ~kUnwrittenBit;
  if (user && isSame(nodes[user], node))
    return user;
  if (user)
    return probe(node, youngest);
  if (isFull() || count * sizeof(Node) + slots * sizeof(uint64_t) > bytes) {
    limit = std::min(limit, count);
    return kUndefined; // the caller looks at isFull()
  }
  Id id = Id(count++);
  nodes[youngest].user |= id;
  nodes[id] = node;
  return id;
}

/// Neighbours among the other operands are neighbours in the table: loops count up.
Id Graph::probe(const Node &node, Id youngest) {
  const Id *x = node.operands;
  uint64_t others = x[0] == youngest ? uint64_t(x[1]) << 32 | x[2] : x[1] == youngest ? uint64_t(x[0]) << 32 | x[2]
                                                                  : uint64_t(x[0]) << 32 | x[1];
  if (youngest == kUndefined)
    others = uint64_t(x[0]) << 32 | x[1];
  uint64_t low = (others >> 32) & 7;
  uint64_t tag = mix(mix(uint64_t(node.op) << 32 | youngest) + (others & ~(uint64_t(7) << 32)));
  tag = (tag & 0xfffffff8) | low;
  uint64_t slot = tag & (slots - 1);
  for (uint64_t entry; (entry = table[slot]); slot = (slot + 1) & (slots - 1))
    if (entry >> 32 == tag && isSame(nodes[Id(entry)], node))
      return Id(entry);
  if (isFull())
    return kUndefined;
  Id id = Id(count++);
  nodes[id] = node;
  table[slot] = tag << 32 | id;
  if (++entered * 4 > slots * 3)
    grow();
  return id;
}

Id Graph::node(uint32_t op, Id a, Id b, Id c) {
  const Operator &o = operators[op];
  bool isSumOrProduct = o.kind == Kind::AddF || o.kind == Kind::MulF;
  if (o.kind == Kind::Select) { // a condition inside of itself is known
    while (isSelectOf(b, a))
      b = nodes[b].operands[1];
    while (isSelectOf(c, a))
      c = nodes[c].operands[2];
  }
  if (o.kind >= Kind::Select && (!isSumOrProduct || isConstant(a) || isConstant(b))) {
    Id folded = fold(o, a, b, c);
    if (folded != kNone)
      return folded;
  }
  if (o.commutative && a > b)
    std::swap(a, b);
  const Id operands[] = {a, b, c};
  bool unwritten = o.kind == Kind::Leaf && o.extra < 0;
  anyUnwritten |= unwritten; // most graphs have none, and their operands need not be looked at
  if (anyUnwritten && !unwritten)
    unwritten = std::any_of(operands, operands + o.arity, [&](Id id) { return holdsUnwritten(id); });
  return intern({op, {a, b, c}, unwritten ? kUnwrittenBit : 0});
}

//===-- folding -----------------------------------------------------------===//

static bool isCast(Kind kind) { return kind == Kind::Bitcast || (kind >= Kind::ExtS && kind <= Kind::Trunc); }

static bool compare(int64_t predicate, const APInt &a, const APInt &b) {
  switch (predicate) {
  case 0: return a == b;
  case 1: return a != b;
  case 2: return a.slt(b);
  case 3: return a.sle(b);
  case 4: return a.sgt(b);
  case 5: return a.sge(b);
  case 6: return a.ult(b);
  case 7: return a.ule(b);
  case 8: return a.ugt(b);
  default: return a.uge(b);
  }
}

/// The quotient of numbers with signs, rounded down (or up); the caller has excluded the undefined ones.
static APInt roundedQuotient(const APInt &a, const APInt &b, bool up) {
  APInt quotient = a.sdiv(b), rest = a.srem(b);
  if (!rest.isZero() && (rest.isNegative() == b.isNegative()) == up)
    up ? ++quotient : --quotient;
  return quotient;
}

/// False if the result is not defined.
static bool divide(Kind kind, const APInt &a, const APInt &b, APInt &result) {
  bool isSigned = kind == Kind::DivS || kind == Kind::RemS || kind == Kind::FloorDivS || kind == Kind::CeilDivS;
  if (b.isZero() || (isSigned && a.isMinSignedValue() && b.isAllOnes()))
    return false;
  switch (kind) {
  case Kind::DivS: result = a.sdiv(b); return true;
  case Kind::DivU: result = a.udiv(b); return true;
  case Kind::RemS: result = a.srem(b); return true;
  case Kind::RemU: result = a.urem(b); return true;
  case Kind::FloorDivS: result = roundedQuotient(a, b, false); return true;
  case Kind::CeilDivS: result = roundedQuotient(a, b, true); return true;
  default:
    result = a.udiv(b);
    if (!a.urem(b).isZero())
      ++result;
    return true;
  }
}

static bool evaluate(Kind kind, const APInt &a, const APInt &b, APInt &result) {
  switch (kind) {
  case Kind::Add: result = a + b; return true;
  case Kind::Sub: result = a - b; return true;
  case Kind::Mul: result = a * b; return true;
  case Kind::And: result = a & b; return true;
  case Kind::Or: result = a | b; return true;
  case Kind::Xor: result = a ^ b; return true;
  case Kind::MinS: result = a.slt(b) ? a : b; return true;
  case Kind::MaxS: result = a.sgt(b) ? a : b; return true;
  case Kind::MinU: result = a.ult(b) ? a : b; return true;
  case Kind::MaxU: result = a.ugt(b) ? a : b; return true;
  case Kind::Shl:
  case Kind::ShrS:
  case Kind::ShrU:
    if (b.uge(a.getBitWidth()))
      return false;
    result = kind == Kind::Shl ? a.shl(b) : kind == Kind::ShrS ? a.ashr(b) : a.lshr(b);
    return true;
  default: return divide(kind, a, b, result);
  }
}

bool Graph::isUnwritten(Id id) const {
  while (holdsUnwritten(id) && id != kUndefined && isCast(operatorOf(id).kind))
    id = nodes[id].operands[0];
  return holdsUnwritten(id) && (id == kUndefined || operatorOf(id).kind == Kind::Leaf);
}

bool Graph::isOneF(Id id) const {
  if (!isConstant(id))
    return false;
  const Constant &known = getConstant(id);
  const uint64_t ones[] = {0, 0x3c00, 0x3f80, 0x3f800000, 0x3ff0000000000000}; // f16, bf16, f32, f64
  return known.type && known.type < 5 && known.value == ones[known.type];
}

/// Zero with the sign that lets every float as it is when it is added.
bool Graph::isZeroF(Id id, bool isNegative) const {
  if (!isConstant(id) || !getConstant(id).type)
    return false;
  const APInt &value = getConstant(id).value;
  return isNegative ? value.isMinSignedValue() : value.isZero();
}

Id Graph::fold(const Operator &o, Id a, Id b, Id c) const {
  auto *self = const_cast<Graph *>(this);
  switch (o.kind) {
  case Kind::Select:
    return isConstant(a) ? (getConstant(a).value.isZero() ? c : b) : b == c ? b : kNone;
  case Kind::AddF:
    return isZeroF(b, true) ? a : isZeroF(a, true) ? b : kNone;
  case Kind::MulF:
    return isOneF(b) ? a : isOneF(a) ? b : kNone;
  case Kind::SubF:
    return isZeroF(b, false) ? a : kNone;
  case Kind::NegF:
  case Kind::FromSigned:
  case Kind::FromUnsigned:
    return kNone;
  case Kind::Bitcast:
    if (isConstant(a))
      return self->constant(o.type, getConstant(a).value);
    if (operatorOf(a).kind == Kind::Bitcast && typeOf(nodes[a].operands[0]) == o.type)
      return nodes[a].operands[0];
    return kNone;
  case Kind::ExtS:
    return isConstant(a) ? self->constant(0, getConstant(a).value.sext(o.width)) : kNone;
  case Kind::ExtU:
    return isConstant(a) ? self->constant(0, getConstant(a).value.zext(o.width)) : kNone;
  case Kind::Trunc:
    return isConstant(a) ? self->constant(0, getConstant(a).value.trunc(o.width)) : self->extract(a, 0, o.width, 0);
  default:
    if (!isConstant(a) || !isConstant(b))
      return kNone;
  }
  const APInt &x = getConstant(a).value, &y = getConstant(b).value;
  if (o.kind == Kind::Compare)
    return self->constant(0, APInt(1, compare(o.extra, x, y)));
  APInt result(1, 0);
  return evaluate(o.kind, x, y, result) ? self->constant(0, result) : kNone;
}

/// A word that is written part by part is a chain of nodes, one behind the other for each write: it is followed in a
/// loop, and only what branches off is deeper.
Id Graph::extract(Id id, unsigned low, unsigned size, unsigned depth) {
  auto zero = [&] { return constant(0, APInt(size, 0)); };
  for (unsigned step = 0; depth <= 256 && step < kMostSteps && id != kUndefined; ++step) {
    if (isConstant(id))
      return constant(0, getConstant(id).value.extractBits(size, low));
    const Operator &o = operatorOf(id);
    if (low == 0 && size == o.width)
      return id;
    Id a = nodes[id].operands[0], b = nodes[id].operands[1];
    switch (o.kind) {
    case Kind::Select:
      return extractOfSelect(id, low, size, depth + 1);
    case Kind::Trunc:
      id = a;
      break;
    case Kind::ExtS:
    case Kind::ExtU:
      if (low + size > widthOf(a))
        return o.kind == Kind::ExtU && low >= widthOf(a) ? zero() : kNone;
      id = a;
      break;
    case Kind::Or: {
      Id right = extract(b, low, size, depth + 1); // what is put into the word
      if (right == kNone)
        return kNone;
      if (!isConstant(right) || !getConstant(right).value.isZero()) {
        Id left = extract(a, low, size, depth + 1);
        bool isZero = left != kNone && isConstant(left) && getConstant(left).value.isZero();
        return left == right || isZero ? right : kNone;
      }
      id = a;
      break;
    }
    case Kind::And: {
      if (isConstant(a))
        std::swap(a, b);
      if (!isConstant(b))
        return kNone;
      APInt mask = getConstant(b).value.extractBits(size, low);
      if (mask.isZero())
        return zero();
      if (!mask.isAllOnes())
        return kNone;
      id = a;
      break;
    }
    case Kind::Shl:
    case Kind::ShrU: {
      if (!isConstant(b) || getConstant(b).value.uge(o.width))
        return kNone;
      unsigned by = getConstant(b).value.getZExtValue();
      bool isRight = o.kind == Kind::ShrU;
      if (isRight ? low + by >= o.width : low + size <= by)
        return zero();
      if (isRight ? low + by + size > o.width : low < by)
        return kNone;
      low = isRight ? low + by : low - by;
      id = a;
      break;
    }
    default:
      return kNone;
    }
  }
  return kNone;
}

Id Graph::extractOfSelect(Id id, unsigned low, unsigned size, unsigned depth) {
  uint64_t key = uint64_t(id) << 32 | low << 16 | size; // widths are less than 1 << 16
  if (auto known = extracted.find(key); known != extracted.end())
    return known->second;
  auto op = selects.find(size);
  Id left = extract(nodes[id].operands[1], low, size, depth);
  Id right = left == kNone ? kNone : extract(nodes[id].operands[2], low, size, depth);
  Id found = kNone;
  if (right != kNone)
    found = left == right ? left : op == selects.end() ? kNone : node(op->second, nodes[id].operands[0], left, right);
  if (extracted.size() >= kMostExtracted)
    extracted.clear();
  extracted.emplace(key, found);
  return found;
}
