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

bool alloVerifyChanged(MlirOperation module, intptr_t count, const MlirOperation *changed, bool symbols) {
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
    if (failed(verify(op)) || (!symbols && !usesAreValid(op)))
      return false;
  }
  return !symbols || succeeded(verify(whole, /*verifyRecursively=*/false));
}
