// How normal forms are made, from the inputs up: sums of integers, and floats; each form is numbered by its content.
#include "GraphNormalForm.h"
#include "NormalForms.h"

using namespace allo::graph;
using namespace allo::graph::normal;

//===-- driver ------------------------------------------------------------===//

/// The form of a task, or 0 with the task entered as missing.
Form NormalForms::need(Id id, unsigned width, Extension extension, bool isTerm) {
  if (const APInt *value = constantOf(id); value && graph.getConstant(id).type == 0)
    return constantForm(extension == Signed ? value->sextOrTrunc(width) : value->zextOrTrunc(width));
  if (id == kUndefined || width <= graph.widthOf(id))
    extension = Narrow;
  auto found = known.find(Task{id, width, extension, isTerm}.key());
  if (found != known.end()) {
    undefined |= found->second == 0;
    return found->second;
  }
  missing.push_back({id, width, extension, isTerm});
  return 0;
}

bool NormalForms::formOf(Id id, Form &form) {
  missing.clear();
  undefined = false;
  form = whole(id);
  std::vector<Task> stack = std::move(missing);
  while (!stack.empty()) {
    Task task = stack.back();
    if (known.count(task.key())) {
      stack.pop_back();
      continue;
    }
    missing.clear();
    undefined = false;
    Form made = task.isTerm ? term(task.id, task.width, task.extension) : sum(task.id, task.width, task.extension);
    if (spent > looked + (1 << 16)) {
      looked = spent;
      if (processorSeconds() > deadline)
        return false;
    }
    if (spent > most)
      return false;
    if (missing.empty()) {
      known.emplace(task.key(), undefined ? 0 : made);
      stack.pop_back();
    } else {
      stack.insert(stack.end(), missing.begin(), missing.end());
    }
  }
  missing.clear();
  undefined = false;
  form = whole(id);
  return true;
}

Form NormalForms::intern(Words words, Shape shape) {
  spent += 1 + words.size() / 4;
  if (!missing.empty() || undefined)
    return 0;
  auto [found, isNew] = numbers.try_emplace(std::move(words), Form(shapes.size()));
  if (isNew)
    shapes.push_back(shape);
  return found->second;
}

//===-- sums of integers --------------------------------------------------===//

const APInt *NormalForms::constantOfForm(Form form) const {
  const Shape &shape = shapes[form];
  return shape.kind == Shape::Linear && sums[shape.sum].terms.empty() ? &sums[shape.sum].constant : nullptr;
}

Sum NormalForms::asSum(Form form, unsigned width) const {
  if (shapes[form].kind == Shape::Linear)
    return sums[shapes[form].sum];
  return {APInt(width, 0), {{form, APInt(width, 1)}}};
}

/// The form of a sum, whose terms may stand in any order and more than once.
Form NormalForms::linear(Sum sum) {
  if (!missing.empty() || undefined)
    return 0;
  std::sort(sum.terms.begin(), sum.terms.end(), [](const Term &a, const Term &b) { return a.atom < b.atom; });
  std::vector<Term> terms;
  for (Term &term : sum.terms) {
    if (!terms.empty() && terms.back().atom == term.atom)
      terms.back().factor += term.factor;
    else
      terms.push_back(std::move(term));
    if (terms.back().factor.isZero())
      terms.pop_back();
  }
  sum.terms = std::move(terms);
  if (sum.constant.isZero() && sum.terms.size() == 1 && sum.terms[0].factor.isOne())
    return sum.terms[0].atom;
  unsigned width = sum.constant.getBitWidth();
  Words words{TagLinear, width};
  auto append = [&](const APInt &value) {
    words.insert(words.end(), value.getRawData(), value.getRawData() + value.getNumWords());
  };
  append(sum.constant);
  for (const Term &term : sum.terms) {
    words.push_back(term.atom);
    append(term.factor);
  }
  Form form = intern(std::move(words), {Shape::Linear, uint32_t(sums.size()), 0, width});
  if (form && shapes[form].sum == sums.size())
    sums.push_back(std::move(sum));
  return form;
}

/// The least number of bits, as far as is seen at once, that hold the value with a sign (or without).
unsigned NormalForms::bitsOf(Id id, Extension extension, unsigned depth) const {
  unsigned width = graph.widthOf(id);
  if (const APInt *value = constantOf(id))
    return extension == Signed ? value->getSignificantBits() : std::max(1u, value->getActiveBits());
  if (depth == 0 || id == kUndefined)
    return width;
  const Node &node = graph.getNode(id);
  const Operator &o = graph.operatorOf(id);
  auto bits = [&](unsigned k, Extension as) { return bitsOf(node.operands[k], as, depth - 1); };
  unsigned found = width;
  switch (o.kind) {
  case Kind::Add:
    found = std::max(bits(0, extension), bits(1, extension)) + 1;
    break;
  case Kind::Sub:
    found = extension == Signed ? std::max(bits(0, Signed), bits(1, Signed)) + 1 : width;
    break;
  case Kind::Mul:
    found = bits(0, extension) + bits(1, extension);
    break;
  case Kind::ExtU:
    found = bits(0, Unsigned) + (extension == Signed);
    break;
  case Kind::ExtS:
    found = extension == Signed ? bits(0, Signed) : width;
    break;
  case Kind::Select:
    found = std::max(bits(1, extension), bits(2, extension));
    break;
  case Kind::And: {
    unsigned least = std::min(bits(0, Unsigned), bits(1, Unsigned));
    found = least < width ? least + (extension == Signed) : width;
    break;
  }
  default:
    break;
  }
  return std::min(found, width);
}

/// Whether an operation on the operands, extended, is the operation, extended: it does not overflow.
bool NormalForms::keepsExtension(Id id, Extension extension) const {
  const Node &node = graph.getNode(id);
  const Operator &o = graph.operatorOf(id);
  if (o.kind == Kind::Select || o.kind == Kind::And || o.kind == Kind::Or || o.kind == Kind::Xor)
    return true;
  if (o.kind != Kind::Add && o.kind != Kind::Sub && o.kind != Kind::Mul)
    return false;
  if (o.kind == Kind::Sub && extension == Unsigned)
    return false;
  unsigned a = bitsOf(node.operands[0], extension, 6), b = bitsOf(node.operands[1], extension, 6);
  return (o.kind == Kind::Mul ? a + b : std::max(a, b) + 1) <= o.width;
}

/// Walks through additions, and conversions that lose nothing modulo 2^width, down to the terms.
Form NormalForms::sum(Id root, unsigned width, Extension rootExtension) {
  if (root == kUndefined) {
    undefined = true;
    return 0;
  }
  if (graph.typeOf(root) != 0)
    return floating(root);
  struct Entry {
    Id id;
    Extension extension;
    APInt factor;
  };
  Sum sum{APInt(width, 0), {}};
  std::vector<Entry> stack{{root, rootExtension, APInt(width, 1)}};
  while (!stack.empty() && spent <= most) {
    auto [id, extension, factor] = std::move(stack.back());
    stack.pop_back();
    ++spent;
    if (const APInt *value = constantOf(id)) {
      sum.constant += factor * (extension == Signed ? value->sextOrTrunc(width) : value->zextOrTrunc(width));
      continue;
    }
    unsigned own = graph.widthOf(id);
    if (width <= own)
      extension = Narrow;
    Id a = graph.getNode(id).operands[0], b = graph.getNode(id).operands[1];
    Kind kind = id == kUndefined ? Kind::Opaque : graph.operatorOf(id).kind;
    bool passes = extension == Narrow || keepsExtension(id, extension);
    if (kind == Kind::Mul && constantOf(a))
      std::swap(a, b);
    const APInt *right = kind == Kind::Mul || kind == Kind::Shl ? constantOf(b) : nullptr;
    bool isBitSum = kind == Kind::Xor && width == 1;
    if ((kind == Kind::Add || kind == Kind::Sub || isBitSum) && passes) {
      stack.push_back({a, extension, factor});
      stack.push_back({b, extension, kind == Kind::Sub ? -factor : factor});
    } else if (kind == Kind::Mul && right && passes) {
      stack.push_back(
          {a, extension, factor * (extension == Signed ? right->sextOrTrunc(width) : right->zextOrTrunc(width))});
    } else if (kind == Kind::Shl && right && right->ult(own) && extension == Narrow) {
      uint64_t by = right->getZExtValue();
      stack.push_back({a, Narrow, by < width ? factor.shl(unsigned(by)) : APInt(width, 0)});
    } else if (kind == Kind::Trunc && (extension == Narrow || bitsOf(a, extension, 6) <= own)) {
      stack.push_back({a, extension, factor});
    } else if (kind == Kind::ExtS && extension != Unsigned) {
      stack.push_back({a, Signed, factor});
    } else if (kind == Kind::ExtU) {
      stack.push_back({a, Unsigned, factor});
    } else if (Form atom = need(id, width, extension, true)) {
      Sum inner = asSum(atom, width);
      sum.constant += factor * inner.constant;
      for (Term &term : inner.terms)
        sum.terms.push_back({term.atom, term.factor * factor});
    }
  }
  return spent > most ? 0 : linear(std::move(sum));
}

//===-- floats ------------------------------------------------------------===//

Form NormalForms::floating(Id root) {
  unsigned width = graph.widthOf(root);
  if (const APInt *value = constantOf(root)) {
    Words words{TagFloatConstant, graph.typeOf(root), width};
    words.insert(words.end(), value->getRawData(), value->getRawData() + value->getNumWords());
    return intern(std::move(words), {Shape::Atom, 0, 0, width, true});
  }
  const Operator &o = graph.operatorOf(root);
  if (o.kind == Kind::Select) {
    const Node &node = graph.getNode(root);
    return choice(whole(node.operands[0]), whole(node.operands[1]), whole(node.operands[2]), width);
  }
  if (o.kind == Kind::FromSigned || o.kind == Kind::FromUnsigned) { // depends on the number, not on its width
    Id source = graph.getNode(root).operands[0];
    unsigned wide = (graph.widthOf(source) / 128 + 1) * 128;
    Form number = need(source, wide, o.kind == Kind::FromSigned ? Signed : Unsigned);
    return intern({TagFromInteger, o.type, width, number}, {Shape::Atom, 0, 0, width, true});
  }
  bool isSum = o.kind == Kind::AddF || o.kind == Kind::SubF || o.kind == Kind::NegF;
  if (!reassociate || !(isSum || o.kind == Kind::MulF))
    return operation(root);
  Words words{isSum ? TagFloatSum : TagFloatProduct, o.type};
  if (!isSum) {
    for (auto [operand, as] : flattened(root, width, Narrow, Kind::MulF))
      words.push_back(whole(operand));
  } else {
    std::vector<std::pair<Id, bool>> stack{{root, false}};
    while (!stack.empty() && spent <= most) {
      auto [id, negative] = stack.back();
      stack.pop_back();
      ++spent;
      Kind kind = Graph::isConstant(id) || id == kUndefined ? Kind::Opaque : graph.operatorOf(id).kind;
      const APInt *value = constantOf(id);
      if (kind == Kind::AddF || kind == Kind::SubF) {
        stack.emplace_back(graph.getNode(id).operands[0], negative);
        stack.emplace_back(graph.getNode(id).operands[1], negative != (kind == Kind::SubF));
      } else if (kind == Kind::NegF) {
        stack.emplace_back(graph.getNode(id).operands[0], !negative);
      } else if (!value || !value->shl(1).isZero()) { // not a zero
        words.push_back(uint64_t(whole(id)) << 1 | negative);
      }
    }
    if (words.size() == 3 && !(words[2] & 1) && missing.empty() && !undefined)
      return Form(words[2] >> 1);
  }
  std::sort(words.begin() + 2, words.end());
  return intern(std::move(words), {Shape::Atom, 0, 0, width, true});
}

bool allo::graph::normalForms(Graph &graph, const Id *ids, uint64_t count, bool reassociate, uint64_t most,
                              double seconds, uint32_t *forms) {
  NormalForms made(graph, reassociate, most, seconds);
  for (uint64_t k = 0; k < count; ++k)
    if (!made.formOf(ids[k], forms[k]))
      return false;
  return true;
}
