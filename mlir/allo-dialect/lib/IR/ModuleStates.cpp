// Modules that are states of a schedule: what a step changes is copied, checked and told from the rest by itself.
#include "allo-c/Allo.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

MlirModule alloEmptyModuleLike(MlirOperation module) {
  Operation *made = unwrap(module)->cloneWithoutRegions();
  made->getRegion(0).emplaceBlock();
  return wrap(cast<ModuleOp>(made));
}

void alloTopLevel(MlirBlock block, AlloSymbolCallback callback, void *data) {
  for (Operation &op : *unwrap(block)) {
    auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    callback(wrap(&op), wrap(name ? name.getValue() : StringRef()), data);
  }
}

MlirOperation alloSetAside(MlirOperation op, MlirBlock aside) {
  Operation *old = unwrap(op), *copy = old->clone();
  old->getBlock()->getOperations().insert(old->getIterator(), copy);
  old->moveBefore(unwrap(aside), unwrap(aside)->end());
  return wrap(copy);
}

bool alloAreSame(MlirOperation left, MlirOperation right, bool annotations) {
  auto flags = annotations ? OperationEquivalence::None : OperationEquivalence::IgnoreDiscardableAttrs;
  return OperationEquivalence::isEquivalentTo(unwrap(left), unwrap(right), flags);
}

namespace {
/// Two operations whose bodies are compared in lockstep: the second one is the first one with other types or attributes.
class Lockstep {
public:
  /// Those that differ, and all around them, inside first; nothing if the operations have another structure.
  bool run(Operation *before, Operation *after) {
    bool differs;
    return sameOperation(before, after, differs);
  }
  SmallVector<Operation *> differing;

private:
  DenseMap<Value, Value> values;

  bool same(Value before, Value after, bool &differs) {
    differs |= before.getType() != after.getType();
    return values.lookup(before) == after;
  }

  bool sameOperation(Operation *before, Operation *after, bool &differs) {
    differs = false;
    if (before->getName() != after->getName() || before->getNumOperands() != after->getNumOperands() ||
        before->getNumResults() != after->getNumResults() || before->getNumRegions() != after->getNumRegions() ||
        before->getNumSuccessors() || after->getNumSuccessors())
      return false;
    for (auto [old, made] : llvm::zip(before->getOperands(), after->getOperands()))
      if (!same(old, made, differs))
        return false;
    for (auto [old, made] : llvm::zip(before->getResults(), after->getResults())) {
      differs |= old.getType() != made.getType();
      values[old] = made;
    }
    differs |= before->getDiscardableAttrDictionary() != after->getDiscardableAttrDictionary() ||
               !before->getName().compareOpProperties(before->getPropertiesStorage(), after->getPropertiesStorage());
    for (auto [old, made] : llvm::zip(before->getRegions(), after->getRegions()))
      if (!sameRegion(old, made, differs))
        return false;
    if (differs)
      differing.push_back(after);
    return true;
  }

  bool sameRegion(Region &before, Region &after, bool &differs) {
    if (before.empty() || after.empty())
      return before.empty() && after.empty();
    if (!before.hasOneBlock() || !after.hasOneBlock() ||
        before.front().getNumArguments() != after.front().getNumArguments())
      return false;
    for (auto [old, made] : llvm::zip(before.front().getArguments(), after.front().getArguments())) {
      differs |= old.getType() != made.getType();
      values[old] = made;
    }
    Block &first = before.front(), &second = after.front();
    auto made = second.begin();
    for (Operation &old : first) {
      bool inner = false;
      if (made == second.end() || !sameOperation(&old, &*made, inner))
        return false;
      differs |= inner;
      ++made;
    }
    return made == second.end();
  }
};

/// An operation by itself: not where its operands come from, nor what is inside of it.
LogicalResult verifyAlone(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (Dialect *dialect = attribute.getNameDialect(); dialect && failed(dialect->verifyOperationAttribute(op, attribute)))
      return failure();
  if (failed(op->getName().verifyInvariants(op)))
    return failure();
  return op->getNumRegions() ? op->getName().verifyRegionInvariants(op) : success();
}

/// Whether an operation is valid, if `before`, where there is one, is: only what differs is looked at.
bool isValid(Operation *op, Operation *before) {
  Lockstep both;
  if (!before || !both.run(before, op))
    return succeeded(verify(op));
  return llvm::all_of(both.differing, [](Operation *one) { return succeeded(verifyAlone(one)); });
}
} // namespace

bool alloVerifyChanged(MlirOperation module, intptr_t count, const MlirOperation *changed,
                       const MlirOperation *before, bool symbols) {
  Operation *whole = unwrap(module);
  ScopedDiagnosticHandler silence(whole->getContext(), [](Diagnostic &) { return success(); });
  SymbolTableCollection tables;
  auto usesAreValid = [&tables](Operation *op) {
    return !op->walk([&tables](SymbolUserOpInterface user) {
          return failed(user.verifySymbolUses(tables)) ? WalkResult::interrupt() : WalkResult::advance();
        }).wasInterrupted();
  };
  for (intptr_t i = 0; i < count; ++i) {
    Operation *op = unwrap(changed[i]);
    if (!isValid(op, mlirOperationIsNull(before[i]) ? nullptr : unwrap(before[i])) || (!symbols && !usesAreValid(op)))
      return false;
  }
  return !symbols || succeeded(verify(whole, /*verifyRecursively=*/false));
}
