#ifndef ALLO_IR_SCHEDULEOPS_TD
#define ALLO_IR_SCHEDULEOPS_TD

include "allo/IR/AlloOpBase.td"

// A schedule as data (Allo paper, section 4 and Fig. 1b): each step is an operation on handles. Which primitives there
// are, and what they mean, is known to allo/customize alone, which applies the steps and removes them.

def Allo_ScheduleOp : Allo_Op<"schedule", [
    HasParent<"::mlir::ModuleOp">, NoTerminator, NoRegionArguments, SingleBlock]> {
  let summary = "the primitives to apply to the functions of the module, in their order";
  let description = [{
    ```mlir
    allo.schedule {
      %k = allo.loop "gemm" "S_i_j_0.k"
      %split:2 = allo.step "split"(%k) {factor = 8 : i32}
      allo.step "unroll"(%split#1)
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}

class Allo_ReferenceOp<string mnemonic, string what>
    : Allo_Op<mnemonic, [HasParent<"ScheduleOp">]> {
  let summary = "the handle of " # what;
  let arguments = (ins StrAttr:$function, StrAttr:$target);
  let results = (outs Allo_HandleType:$handle);
  let assemblyFormat = "$function $target attr-dict";
}
def Allo_LoopOp : Allo_ReferenceOp<"loop", "a loop of a function: `i`, or `nest.i`">;
def Allo_BufferOp : Allo_ReferenceOp<"buffer", "an array of a function">;
def Allo_NestOp : Allo_ReferenceOp<"nest", "a loop nest of a function">;

def Allo_FunctionOp : Allo_Op<"function", [HasParent<"ScheduleOp">]> {
  let summary = "the handle of a function";
  let arguments = (ins StrAttr:$function);
  let results = (outs Allo_HandleType:$handle);
  let assemblyFormat = "$function attr-dict";
}

def Allo_StepOp : Allo_Op<"step", [
    HasParent<"ScheduleOp">, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "an applied primitive: `s.<primitive>(...)`";
  let description = [{
    Handles are operands; the other arguments have the names of their parameters. The results are the handles that the
    primitive returns, as many as are used.
  }];
  let arguments = (ins StrAttr:$primitive, Variadic<Allo_HandleType>:$handles, DictionaryAttr:$values);
  let results = (outs Variadic<Allo_HandleType>:$made);
  let hasCustomAssemblyFormat = 1;
}

#endif
