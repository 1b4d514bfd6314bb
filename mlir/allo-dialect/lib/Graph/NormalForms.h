// How normal forms are made: what GraphNormalForm.cpp and NormalFormTerms.cpp share.
#pragma once

#include "ComputationGraph.h"

#include <algorithm>
#include <ctime>

namespace allo::graph::normal {

using llvm::APInt;
using Form = uint32_t; // 0: undefined
using Words = std::vector<uint64_t>;

struct WordsHash {
  size_t operator()(const Words &words) const { return hashOf(words.data(), words.size()); }
};

struct Term {
  Form atom;
  APInt factor;
};

/// A sum modulo 2^width.
struct Sum {
  APInt constant;
  std::vector<Term> terms; // by rising atom
};

/// What a form is, as far as other forms look into it.
struct Shape {
  enum { Atom, Linear, Zero, Sign, Guarded } kind = Atom; // Zero, Sign: an extension
  uint32_t sum = 0;   // of a linear form; of a guarded one, its conditions
  Form source = 0;    // of an extension or guarded form
  unsigned width = 0; // of the form
  bool isFloat = false;
};

/// How an expression that is narrower than what is asked for is extended.
enum Extension : uint8_t { Narrow, Signed, Unsigned };

/// An expression modulo 2^width: as a sum, or as one term of a sum.
struct Task {
  Id id;
  unsigned width;
  Extension extension;
  bool isTerm;
  uint64_t key() const { return uint64_t(id) << 32 | uint64_t(width) << 3 | uint64_t(extension) << 1 | isTerm; }
};

enum Tag : uint64_t {
  TagLeaf, TagLinear, TagProduct, TagBits, TagExtract, TagZero, TagSign, TagTrunc, TagShift, TagSelect, TagGuard, TagCompare,
  TagExtreme, TagOperation, TagFromInteger, TagFloatConstant, TagFloatSum, TagFloatProduct,
};

class NormalForms {
public:
  NormalForms(Graph &graph, bool reassociate, uint64_t most, double seconds)
      : graph(graph), reassociate(reassociate), most(most),
        deadline(processorSeconds() + seconds) {
    shapes.push_back({});
  }

  bool formOf(Id id, Form &form);

private:
  /// Of this process: a busy machine is no reason to give up.
  static double processorSeconds() { return double(std::clock()) / CLOCKS_PER_SEC; }
  // The first call of `sum` or `term` on a task finds what it needs; the second one finds all of it there.
  Form need(Id id, unsigned width, Extension extension = Narrow, bool isTerm = false);
  Form whole(Id id) { return need(id, graph.widthOf(id)); }
  Form sum(Id id, unsigned width, Extension extension);
  Form term(Id id, unsigned width, Extension extension);
  Form floating(Id id);
  Form product(Id id, unsigned width, Extension extension);
  Form bits(Id id, unsigned width, Extension extension);
  Form shift(Id id, unsigned width);
  Form extreme(Id id);
  Form comparison(Id id);
  Form choice(Form condition, Form yes, Form no, unsigned width);
  static Sum takenCommon(Sum &one, Sum &other);
  Form guarded(uint64_t condition, Form atom, unsigned width);
  Form operation(Id id);

  Form intern(Words words, Shape shape = {});
  Form constantForm(const APInt &value) { return linear({value, {}}); }
  Form linear(Sum sum);
  Form extended(Shape source, Form form, bool isSigned, unsigned width);
  Form extracted(Id id, unsigned low, unsigned size);
  Form narrowed(Form form, unsigned width) { return intern({TagTrunc, width, form}, {Shape::Atom, 0, 0, width}); }
  Sum asSum(Form form, unsigned width) const;
  using Operands = std::vector<std::pair<Id, Extension>>;
  Operands flattened(Id id, unsigned width, Extension extension, Kind kind);
  bool keepsExtension(Id id, Extension extension) const;
  unsigned bitsOf(Id id, Extension extension, unsigned depth) const;
  const APInt *constantOf(Id id) const { return Graph::isConstant(id) ? &graph.getConstant(id).value : nullptr; }
  const APInt *constantOfForm(Form form) const;

  Graph &graph;
  bool reassociate;
  uint64_t most, spent = 0, looked = 0;
  double deadline;
  std::unordered_map<uint64_t, Form> known;
  std::unordered_map<Words, Form, WordsHash> numbers;
  std::vector<Shape> shapes; // of the forms
  std::vector<Sum> sums;
  std::vector<Words> guards; // conditions of guarded forms: twice the form, and 1 where it must not hold
  std::vector<Task> missing;  // what the form that is being made waits for
  bool undefined = false;     // whether an undefined value is in it
};

} // namespace allo::graph::normal
