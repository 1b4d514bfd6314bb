#ifndef ALLO_IR_ALLOTYPES_TD
#define ALLO_IR_ALLOTYPES_TD

include "allo/IR/AlloDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/CommonTypeConstraints.td"

class Allo_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Allo_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

class Allo_FixedPointType<string name, string typeMnemonic>
    : Allo_Type<name, typeMnemonic, [MemRefElementTypeInterface]> {
  let parameters = (ins "unsigned":$width, "unsigned":$frac,
                        "::mlir::allo::FixedRounding":$rounding,
                        "::mlir::allo::FixedOverflow":$overflow);
  let builders = [TypeBuilder<(ins "unsigned":$width, "unsigned":$frac), [{
    return $_get($_ctxt, width, frac, FixedRounding::trn, FixedOverflow::wrap);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Allo_FixedType : Allo_FixedPointType<"Fixed", "fixed"> {
  let summary = "signed fixed-point number";
  let description = [{
    `!allo.fixed<16, 8>`: a two's complement integer of 16 bits, divided by 2^8.

    `!allo.fixed<16, 8, rnd, sat>` says in addition what `allo.fixed_cast` to the
    type does with numbers that it does not hold (by default `trn` and `wrap`):
    the digits on the right are dropped toward minus infinity (`trn`) or zero
    (`trn_zero`), or round to nearest, halves up (`rnd`), toward zero
    (`rnd_zero`), down (`rnd_min_inf`), away from zero (`rnd_inf`) or to even
    (`rnd_conv`); on the left a number wraps (`wrap`), becomes the nearest one
    of the type (`sat`), zero (`sat_zero`), or the nearest one of a range with
    equal bounds (`sat_sym`). Arithmetic on the type is not affected.
  }];
}

def Allo_UFixedType : Allo_FixedPointType<"UFixed", "ufixed"> {
  let summary = "unsigned fixed-point number";
  let description = [{
    `!allo.ufixed<16, 8>`: an unsigned integer of 16 bits, divided by 2^8.
  }];
}

def Allo_StreamType
    : Allo_Type<"Stream", "stream", [MemRefElementTypeInterface]> {
  let summary = "bounded FIFO channel";
  let description = [{
    `!allo.stream<f32, 4>`: at most 4 elements of type f32 wait in it. An
    element is a scalar, a fixed-point number, a struct, or a block (a vector or
    a tensor of static shape).
  }];
  let parameters = (ins "::mlir::Type":$elementType, "unsigned":$depth);
  let assemblyFormat = "`<` $elementType `,` $depth `>`";
  let genVerifyDecl = 1;
}

def Allo_ITensorType : Allo_Type<"ITensor", "itensor"> {
  let summary = "in which order the elements of an array pass through a stream";
  let description = [{
    `!allo.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>`, an iterative
    tensor: blocks of 4 x 2 elements, in the order of two loops, outermost first,
    of 4 and 2 iterations, whose variables grow by 2 and 4. A block begins at the
    subscripts that the map gives of these variables, sums of them and numbers.

    As the attribute `allo.itensor` of what makes a stream it says what passes
    through it; the elements of a block pass in row-major order.
    Source: StreamTensor, section 3.1.2.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        ArrayRefParameter<"int64_t">:$trips, ArrayRefParameter<"int64_t">:$steps,
                        ArrayRefParameter<"int64_t">:$factors, ArrayRefParameter<"int64_t">:$offset);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// What the variable of a loop counts in a subscript; `factors` has them dimension by dimension.
    int64_t getFactor(size_t dim, size_t loop) const { return getFactors()[dim * getTrips().size() + loop]; }
    /// The subscripts at which a block begins, over the variables of the loops.
    ::mlir::AffineMap getMap() const;
  }];
}

def Allo_StructType
    : Allo_Type<"Struct", "struct", [MemRefElementTypeInterface]> {
  let summary = "named fields, packed; the first field is in the low bits";
  let description = [{
    `!allo.struct<{a: i32, b: !allo.fixed<8, 4>}>`. A name that is no keyword is
    quoted.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"::mlir::Type">:$types);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The position of the field `name`.
    std::optional<unsigned> getFieldIndex(::llvm::StringRef name) const;
  }];
}

def Allo_HandleType : Allo_Type<"Handle", "handle"> {
  let summary = "what a schedule operation refers to: a loop, a buffer, a function";
}

//===-- constraints ------------------------------------------------------===//

def Allo_AnyFixed : Type<
    Or<[Allo_FixedType.predicate, Allo_UFixedType.predicate]>,
    "a fixed-point number (!allo.fixed or !allo.ufixed)">;
def Allo_AnyScalar : Type<
    CPred<"::mlir::allo::isScalarType($_self)">,
    "an integer, index, float, fixed-point number or struct">;
def Allo_AnyPacked : Type<
    CPred<"::mlir::allo::getPackedWidth($_self).has_value()">,
    "an integer, float, fixed-point number or struct">;

#endif
