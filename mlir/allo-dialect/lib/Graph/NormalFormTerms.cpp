// The terms of sums of integers in normal form: products, bits, shifts, choices, comparisons.
#include "NormalForms.h"

#include <map>

using namespace allo::graph;
using namespace allo::graph::normal;

//===-- terms of integers -------------------------------------------------===//

Form NormalForms::term(Id id, unsigned width, Extension extension) {
  if (id == kUndefined) {
    undefined = true;
    return 0;
  }
  const Operator &o = graph.operatorOf(id);
  const Node &node = graph.getNode(id);
  if (extension != Narrow && !keepsExtension(id, extension)) {
    Form form = whole(id);
    return extended(shapes[form], form, extension == Signed, width);
  }
  switch (o.kind) {
  case Kind::Mul:
    return product(id, width, extension);
  case Kind::And:
  case Kind::Or:
  case Kind::Xor:
    return bits(id, width, extension);
  case Kind::ShrS:
  case Kind::ShrU:
  case Kind::DivU:
  case Kind::RemU:
  case Kind::FloorDivS:
    return shift(id, width);
  case Kind::Select:
    return choice(whole(node.operands[0]), need(node.operands[1], width, extension),
                  need(node.operands[2], width, extension), width);
  case Kind::Compare:
    return comparison(id);
  default:
    break;
  }
  Form form = o.kind >= Kind::MinS && o.kind <= Kind::MaxU ? extreme(id) : operation(id);
  return width < o.width ? narrowed(form, width) : form;
}

/// The operands of nested operations of one kind that has neither order nor brackets.
NormalForms::Operands NormalForms::flattened(Id root, unsigned width, Extension extension, Kind kind) {
  Operands stack{{root, extension}}, found;
  bool converts = kind == Kind::Mul || kind == Kind::And || kind == Kind::Or || kind == Kind::Xor;
  while (!stack.empty() && spent <= most) {
    auto [id, as] = stack.back();
    stack.pop_back();
    ++spent;
    if (!Graph::isConstant(id) && id != kUndefined) {
      Kind here = graph.operatorOf(id).kind;
      const Node &node = graph.getNode(id);
      if (width <= graph.widthOf(id))
        as = Narrow;
      if (here == kind && (as == Narrow || keepsExtension(id, as))) {
        stack.push_back({node.operands[1], as});
        stack.push_back({node.operands[0], as});
        continue;
      }
      bool narrows = here == Kind::Trunc && (as == Narrow || bitsOf(node.operands[0], as, 6) <= graph.widthOf(id));
      bool widens = (here == Kind::ExtS && as != Unsigned) || here == Kind::ExtU;
      if (converts && (narrows || widens)) {
        stack.push_back({node.operands[0], narrows ? as : here == Kind::ExtS ? Signed : Unsigned});
        continue;
      }
    }
    found.push_back({id, as});
  }
  return found;
}

Form NormalForms::product(Id id, unsigned width, Extension extension) {
  APInt factor(width, 1);
  std::vector<Form> atoms;
  for (auto [operand, as] : flattened(id, width, extension, Kind::Mul)) {
    Form form = need(operand, width, as);
    if (!form)
      continue;
    Sum sum = asSum(form, width);
    if (sum.terms.empty()) {
      factor *= sum.constant;
    } else if (sum.constant.isZero() && sum.terms.size() == 1) {
      factor *= sum.terms[0].factor;
      atoms.push_back(sum.terms[0].atom);
    } else {
      atoms.push_back(form);
    }
  }
  if (atoms.empty())
    return linear({factor, {}});
  std::sort(atoms.begin(), atoms.end());
  Form atom = atoms[0];
  if (atoms.size() > 1) {
    Words words{TagProduct, width};
    words.insert(words.end(), atoms.begin(), atoms.end());
    atom = intern(std::move(words), {Shape::Atom, 0, 0, width});
  }
  Sum inner = asSum(atom, width);
  Sum sum{factor * inner.constant, {}};
  for (Term &term : inner.terms)
    sum.terms.push_back({term.atom, term.factor * factor});
  return linear(std::move(sum));
}

Form NormalForms::bits(Id id, unsigned width, Extension extension) {
  Kind kind = graph.operatorOf(id).kind;
  APInt constant = kind == Kind::And ? APInt::getAllOnes(width) : APInt(width, 0);
  std::map<Form, unsigned> operands;
  Operands variables;
  for (auto [operand, as] : flattened(id, width, extension, kind)) {
    Form form = need(operand, width, as);
    if (!form)
      continue;
    if (const APInt *value = constantOfForm(form)) {
      constant = kind == Kind::And ? constant & *value : kind == Kind::Or ? constant | *value : constant ^ *value;
      continue;
    }
    unsigned &times = operands[form];
    times = kind == Kind::Xor ? !times : 1;
    variables.push_back({operand, as});
  }
  if (!missing.empty() || undefined)
    return 0;
  if (kind == Kind::And && variables.size() == 1 && constant.isMask() && constant.countr_one() < width) {
    Form low = need(variables[0].first, constant.countr_one(), variables[0].second);
    return extended(shapes[low], low, false, width);
  }
  bool isNeutral = kind == Kind::And ? constant.isAllOnes() : constant.isZero();
  bool absorbs = (kind == Kind::And && constant.isZero()) || (kind == Kind::Or && constant.isAllOnes());
  Words words{TagBits, uint64_t(kind), width};
  for (auto [form, times] : operands)
    if (times && !absorbs)
      words.push_back(form);
  if (words.size() == 3)
    return constantForm(constant);
  if (words.size() == 4 && isNeutral)
    return Form(words[3]);
  if (!isNeutral)
    words.push_back(constantForm(constant));
  return intern(std::move(words), {Shape::Atom, 0, 0, width});
}

/// `size` bits of an expression from bit `low` on.
Form NormalForms::extracted(Id id, unsigned low, unsigned size) {
  if (low == 0)
    return need(id, size);
  Form source = need(id, low + size);
  return intern({TagExtract, low, size, source}, {Shape::Atom, 0, 0, size});
}

Form NormalForms::extended(Shape source, Form form, bool isSigned, unsigned width) {
  if (!missing.empty() || undefined)
    return 0;
  if (const APInt *value = constantOfForm(form))
    return constantForm(isSigned ? value->sext(width) : value->zext(width));
  if (source.kind == Shape::Zero || (source.kind == Shape::Sign && isSigned))
    return intern({source.kind == Shape::Zero ? TagZero : TagSign, width, source.source},
                  {source.kind, 0, source.source, width});
  return intern({isSigned ? TagSign : TagZero, width, form}, {isSigned ? Shape::Sign : Shape::Zero, 0, form, width});
}

/// Shifts to the right, and quotients and remainders by powers of two: some bits of the operand.
Form NormalForms::shift(Id id, unsigned width) {
  const Operator &o = graph.operatorOf(id);
  Id source = graph.getNode(id).operands[0];
  const APInt *right = constantOf(graph.getNode(id).operands[1]);
  bool isShift = o.kind == Kind::ShrS || o.kind == Kind::ShrU;
  bool known = right && (isShift ? right->ult(o.width) : right->isPowerOf2() && !right->isNegative());
  if (o.kind == Kind::DivU || o.kind == Kind::RemU)
    known = right && right->isPowerOf2();
  if (!known) {
    Form form = operation(id);
    return width < o.width ? narrowed(form, width) : form;
  }
  unsigned by = isShift ? unsigned(right->getZExtValue()) : right->logBase2();
  if (o.kind == Kind::RemU) {
    if (by == 0)
      return constantForm(APInt(width, 0));
    unsigned size = std::min(by, width);
    Form low = need(source, size);
    return size == width ? low : extended(shapes[low], low, false, width);
  }
  unsigned size = std::min(width, o.width - by);
  Form part = extracted(source, by, size);
  bool isSigned = o.kind == Kind::ShrS || o.kind == Kind::FloorDivS;
  return size == width ? part : extended(shapes[part], part, isSigned, width);
}

Form NormalForms::extreme(Id id) {
  const Operator &o = graph.operatorOf(id);
  std::vector<Form> forms;
  for (auto [operand, as] : flattened(id, o.width, Narrow, o.kind))
    forms.push_back(need(operand, o.width, as));
  std::sort(forms.begin(), forms.end());
  forms.erase(std::unique(forms.begin(), forms.end()), forms.end());
  if (forms.size() == 1)
    return forms[0];
  Words words{TagExtreme, uint64_t(o.kind), o.width};
  words.insert(words.end(), forms.begin(), forms.end());
  return intern(std::move(words), {Shape::Atom, 0, 0, o.width});
}

/// Predicates as those of arith.cmpi. Only `==` and `<` are left: `a <= b` is `not b < a`, and `not` adds 1 to a bit.
Form NormalForms::comparison(Id id) {
  int64_t predicate = graph.operatorOf(id).extra;
  Form a = whole(graph.getNode(id).operands[0]), b = whole(graph.getNode(id).operands[1]);
  bool isUnsigned = predicate >= 6;
  int64_t kind = predicate < 2 ? predicate : 2 + (predicate - 2) % 4; // 0 ==, 1 !=, 2 <, 3 <=, 4 >, 5 >=
  bool negates = kind == 1 || kind == 3 || kind == 5;
  bool swaps = kind < 2 ? b < a : kind == 3 || kind == 4;
  if (swaps)
    std::swap(a, b);
  Form form = intern({TagCompare, uint64_t(kind < 2 ? 0 : 1 + isUnsigned), a, b}, {Shape::Atom, 0, 0, 1});
  return negates && form ? linear({APInt(1, 1), {{form, APInt(1, 1)}}}) : form;
}

/// `x + y if c else x + z` is `x + (y if c else z)`, and `x + y if c else 0` is `(x if c else 0) + (y if c else 0)`;
/// `x if not c else y` is `y if c else x`.
Form NormalForms::choice(Form condition, Form yes, Form no, unsigned width) {
  if (!missing.empty() || undefined || yes == no)
    return yes;
  if (const APInt *value = constantOfForm(condition))
    return value->isZero() ? no : yes;
  Sum negated = asSum(condition, 1);
  if (negated.terms.size() == 1 && negated.constant.isOne())
    return choice(negated.terms[0].atom, no, yes, width);
  if (shapes[yes].isFloat || shapes[no].isFloat)
    return intern({TagSelect, width, condition, yes, no}, {Shape::Atom, 0, 0, width, true});
  Sum more = asSum(yes, width), rest = asSum(no, width);
  Sum both = takenCommon(more, rest);
  if (!more.terms.empty() && !rest.terms.empty()) {
    Form chosen = intern({TagSelect, width, condition, linear(std::move(more)), linear(std::move(rest))},
                         {Shape::Atom, 0, 0, width});
    both.terms.push_back({chosen, APInt(width, 1)});
    return linear(std::move(both));
  }
  Form counted = width == 1 ? condition : extended(shapes[condition], condition, false, width);
  Sum counts = asSum(counted, width);
  both.constant += more.constant * counts.constant;
  for (const Term &term : counts.terms)
    both.terms.push_back({term.atom, term.factor * more.constant});
  bool isMore = rest.terms.empty();
  for (const Term &term : isMore ? more.terms : rest.terms)
    if (Form form = guarded(uint64_t(condition) << 1 | !isMore, term.atom, width))
      both.terms.push_back({form, term.factor});
  return linear(std::move(both));
}

/// A term under one more condition, which may be negated (the last bit); 0 if it is never there.
Form NormalForms::guarded(uint64_t condition, Form atom, unsigned width) {
  Words conditions;
  if (shapes[atom].kind == Shape::Guarded) {
    conditions = guards[shapes[atom].sum];
    atom = shapes[atom].source;
  }
  auto place = std::lower_bound(conditions.begin(), conditions.end(), condition & ~uint64_t(1));
  bool isThere = place != conditions.end() && (*place ^ condition) <= 1;
  if (isThere && *place != condition)
    return 0;
  if (!isThere)
    conditions.insert(place, condition);
  Words words{TagGuard, width, atom};
  words.insert(words.end(), conditions.begin(), conditions.end());
  Form form = intern(std::move(words), {Shape::Guarded, uint32_t(guards.size()), atom, width});
  if (form && shapes[form].sum == guards.size())
    guards.push_back(std::move(conditions));
  return form;
}

/// Takes out of two sums what they have in common, and the constant of the second one out of both.
Sum NormalForms::takenCommon(Sum &one, Sum &other) {
  Sum common{other.constant, {}};
  one.constant -= other.constant;
  other.constant = APInt(common.constant.getBitWidth(), 0);
  std::vector<Term> left, right;
  auto a = one.terms.begin();
  for (Term &term : other.terms) {
    while (a != one.terms.end() && a->atom < term.atom)
      left.push_back(std::move(*a++));
    if (a != one.terms.end() && a->atom == term.atom && a->factor == term.factor) {
      common.terms.push_back(std::move(term));
      ++a;
    } else {
      right.push_back(std::move(term));
    }
  }
  left.insert(left.end(), a, one.terms.end());
  one.terms = std::move(left);
  other.terms = std::move(right);
  return common;
}

/// An operation that is only known to give equal results for equal operands.
Form NormalForms::operation(Id id) {
  const Node &node = graph.getNode(id);
  const Operator &o = graph.operatorOf(id);
  Shape shape{Shape::Atom, 0, 0, o.width, o.type != 0};
  if (o.kind == Kind::Leaf)
    return intern({TagLeaf, node.op, node.operands[0], node.operands[1]}, shape);
  Words words{TagOperation, node.op};
  for (unsigned k = 0; k < o.arity; ++k)
    words.push_back(whole(node.operands[k]));
  if (o.commutative && words[3] < words[2])
    std::swap(words[2], words[3]);
  return intern(std::move(words), shape);
}
