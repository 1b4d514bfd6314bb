#ifndef ALLO_IR_ALLOOPBASE_TD
#define ALLO_IR_ALLOOPBASE_TD

include "allo/IR/AlloAttrs.td"
include "allo/IR/AlloDialect.td"
include "allo/IR/AlloTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

class Allo_Op<string mnemonic, list<Trait> traits = []>
    : Op<Allo_Dialect, mnemonic, traits>;

/// `to` has the type of `from`; `remedy` completes "failed to verify that ...".
class Allo_SameType<string from, string to, string remedy>
    : TypesMatchWith<remedy, from, to, "$_self">;

#endif
