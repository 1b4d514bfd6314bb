#ifndef ALLO_IR_SCHEDULEOPS_TD
#define ALLO_IR_SCHEDULEOPS_TD

include "allo/IR/AlloOpBase.td"

// A schedule as data (Allo paper, section 4 and Fig. 1b): each primitive of `allo.Schedule` is an operation on
// handles. The other arguments of the primitive are attributes with the names of its parameters. What the
// operations mean is decided by allo/customize, which applies and removes them.

def Allo_ScheduleOp : Allo_Op<"schedule", [
    HasParent<"::mlir::ModuleOp">, NoTerminator, NoRegionArguments, SingleBlock]> {
  let summary = "the primitives to apply to the functions of the module, in their order";
  let description = [{
    ```mlir
    allo.schedule {
      %k = allo.loop "gemm" "S_i_j_0.k"
      %0:2 = allo.split %k {factor = 8 : i32}
      allo.unroll %0#1
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

class Allo_PrimitiveOp<string mnemonic, dag made = (outs)>
    : Allo_Op<mnemonic, [HasParent<"ScheduleOp">]> {
  let summary = "the primitive `s." # mnemonic # "`";
  let arguments = (ins Variadic<Allo_HandleType>:$handles);
  let results = made;
  let assemblyFormat = "$handles attr-dict";
}

def Allo_SplitOp : Allo_PrimitiveOp<"split",
    (outs Allo_HandleType:$outer, Allo_HandleType:$inner)>;
def Allo_ReorderOp : Allo_PrimitiveOp<"reorder">;
def Allo_FuseOp : Allo_PrimitiveOp<"fuse", (outs Allo_HandleType:$fused)>;
def Allo_ComputeAtOp : Allo_PrimitiveOp<"compute_at">;
def Allo_UnrollOp : Allo_PrimitiveOp<"unroll">;
def Allo_UnfoldOp : Allo_PrimitiveOp<"unfold", (outs Allo_HandleType:$elements)>;
def Allo_PipelineOp : Allo_PrimitiveOp<"pipeline">;
def Allo_ParallelOp : Allo_PrimitiveOp<"parallel">;
def Allo_DataflowOp : Allo_PrimitiveOp<"dataflow">;
def Allo_InlineOp : Allo_PrimitiveOp<"inline">;
def Allo_BufferAtOp : Allo_PrimitiveOp<"buffer_at", (outs Allo_HandleType:$buffer)>;
def Allo_ReuseAtOp : Allo_PrimitiveOp<"reuse_at", (outs Allo_HandleType:$buffer)>;
def Allo_PartitionOp : Allo_PrimitiveOp<"partition">;
def Allo_ReshapeOp : Allo_PrimitiveOp<"reshape">;
def Allo_PackOp : Allo_PrimitiveOp<"pack">;
def Allo_RelayOp : Allo_PrimitiveOp<"relay">;
def Allo_SkewOp : Allo_PrimitiveOp<"skew">;
def Allo_PeelOp : Allo_PrimitiveOp<"peel",
    (outs Allo_HandleType:$peeled, Allo_HandleType:$rest)>;
def Allo_SpecializeOp : Allo_PrimitiveOp<"specialize", (outs Allo_HandleType:$copy)>;
def Allo_BindOp : Allo_PrimitiveOp<"bind">;

#endif
