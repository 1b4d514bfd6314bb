#ifndef ALLO_IR_STREAMOPS_TD
#define ALLO_IR_STREAMOPS_TD

include "allo/IR/AlloOpBase.td"

def Allo_StreamCreateOp : Allo_Op<"stream_create"> {
  let summary = "an empty FIFO";
  let description = [{
    `%s = allo.stream_create {allo.name = "pipe"} : !allo.stream<f32, 4>`
  }];
  let results = (outs Res<Allo_StreamType, "", [MemAlloc]>:$stream);
  let assemblyFormat = "attr-dict `:` qualified(type($stream))";
}

def Allo_StreamPutOp : Allo_Op<"stream_put", [
    TypesMatchWith<"the value has the element type of the stream", "stream", "value",
                   "::llvm::cast<StreamType>($_self).getElementType()">]> {
  let summary = "append one element; waits while the stream is full";
  let arguments = (ins Arg<Allo_StreamType, "", [MemRead, MemWrite]>:$stream,
                       AnyType:$value);
  let assemblyFormat = "$stream `,` $value attr-dict `:` qualified(type($stream))";
}

def Allo_StreamGetOp : Allo_Op<"stream_get", [
    TypesMatchWith<"the result has the element type of the stream", "stream", "value",
                   "::llvm::cast<StreamType>($_self).getElementType()">]> {
  let summary = "remove the oldest element; waits while the stream is empty";
  let arguments = (ins Arg<Allo_StreamType, "", [MemRead, MemWrite]>:$stream);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$stream attr-dict `:` qualified(type($stream))";
}

def Allo_StreamPeekOp : Allo_Op<"stream_peek", [
    TypesMatchWith<"the result has the element type of the stream", "stream", "value",
                   "::llvm::cast<StreamType>($_self).getElementType()">]> {
  let summary = "the oldest element, which stays in the stream; waits while the stream is empty";
  let arguments = (ins Arg<Allo_StreamType, "", [MemRead, MemWrite]>:$stream);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$stream attr-dict `:` qualified(type($stream))";
}

def Allo_StreamTryPutOp : Allo_Op<"stream_try_put", [
    TypesMatchWith<"the value has the element type of the stream", "stream", "value",
                   "::llvm::cast<StreamType>($_self).getElementType()">]> {
  let summary = "append one element if there is room; whether there was";
  let arguments = (ins Arg<Allo_StreamType, "", [MemRead, MemWrite]>:$stream,
                       AnyType:$value);
  let results = (outs I1:$done);
  let assemblyFormat = "$stream `,` $value attr-dict `:` qualified(type($stream))";
}

def Allo_StreamTryGetOp : Allo_Op<"stream_try_get", [
    TypesMatchWith<"the first result has the element type of the stream", "stream", "value",
                   "::llvm::cast<StreamType>($_self).getElementType()">]> {
  let summary = "remove the oldest element if there is one, else zero; whether there was one";
  let arguments = (ins Arg<Allo_StreamType, "", [MemRead, MemWrite]>:$stream);
  let results = (outs AnyType:$value, I1:$done);
  let assemblyFormat = "$stream attr-dict `:` qualified(type($stream))";
}

class Allo_StreamQueryOp<string mnemonic> : Allo_Op<mnemonic> {
  let arguments = (ins Arg<Allo_StreamType, "", [MemRead, MemWrite]>:$stream);
  let results = (outs I1:$result);
  let assemblyFormat = "$stream attr-dict `:` qualified(type($stream))";
}

// A query also "writes": what it answers depends on when it is asked, so that
// two of them are never one.
def Allo_StreamEmptyOp : Allo_StreamQueryOp<"stream_empty"> {
  let summary = "whether a get would wait";
}

def Allo_StreamFullOp : Allo_StreamQueryOp<"stream_full"> {
  let summary = "whether a put would wait";
}

#endif
