// The C API: thin wrappers that check parameters instead of asserting.
#include "allo-c/Allo.h"

#include "allo/Conversion/Passes.h"
#include "allo/IR/AlloDialect.h"
#if __has_include("allo/Transforms/Passes.h")
#include "allo/Transforms/Passes.h"
#define ALLO_HAS_TRANSFORMS 1
#endif

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"

using namespace mlir;
using namespace mlir::allo;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Allo, allo, mlir::allo::AlloDialect)

void alloRegisterPasses(void) {
  registerAlloConversionPasses();
#ifdef ALLO_HAS_TRANSFORMS
  registerAlloTransformsPasses();
#endif
}

static auto reporter(MLIRContext *context) {
  return [context] { return emitError(UnknownLoc::get(context)); };
}

//===-- fixed point ------------------------------------------------------===//

bool alloTypeIsAFixed(MlirType type) { return isa<FixedType>(unwrap(type)); }
bool alloTypeIsAUFixed(MlirType type) { return isa<UFixedType>(unwrap(type)); }
template <typename FixedPointType>
static MlirType getFixedPoint(MLIRContext *context, unsigned width, unsigned frac,
                              StringRef rounding, StringRef overflow) {
  auto emit = reporter(context);
  auto right = symbolizeFixedRounding(rounding);
  auto left = symbolizeFixedOverflow(overflow);
  if (!right || !left) {
    emit() << "a fixed-point number has no " << (right ? "overflow" : "rounding") << " '"
           << (right ? overflow : rounding) << "'";
    return wrap(Type());
  }
  return wrap(Type(FixedPointType::getChecked(emit, context, width, frac, *right, *left)));
}

MlirType alloFixedTypeGet(MlirContext context, unsigned width, unsigned frac,
                          MlirStringRef rounding, MlirStringRef overflow) {
  return getFixedPoint<FixedType>(unwrap(context), width, frac, unwrap(rounding), unwrap(overflow));
}
MlirType alloUFixedTypeGet(MlirContext context, unsigned width, unsigned frac,
                           MlirStringRef rounding, MlirStringRef overflow) {
  return getFixedPoint<UFixedType>(unwrap(context), width, frac, unwrap(rounding),
                                   unwrap(overflow));
}
MlirTypeID alloFixedTypeGetTypeID(void) { return wrap(FixedType::getTypeID()); }
MlirTypeID alloUFixedTypeGetTypeID(void) { return wrap(UFixedType::getTypeID()); }
unsigned alloFixedTypeGetWidth(MlirType type) { return getFixedFormat(unwrap(type))->width; }
unsigned alloFixedTypeGetFrac(MlirType type) { return getFixedFormat(unwrap(type))->frac; }
MlirStringRef alloFixedTypeGetRounding(MlirType type) {
  return wrap(stringifyFixedRounding(getFixedFormat(unwrap(type))->rounding));
}
MlirStringRef alloFixedTypeGetOverflow(MlirType type) {
  return wrap(stringifyFixedOverflow(getFixedFormat(unwrap(type))->overflow));
}

//===-- streams ----------------------------------------------------------===//

bool alloTypeIsAStream(MlirType type) { return isa<StreamType>(unwrap(type)); }
MlirType alloStreamTypeGet(MlirType elementType, unsigned depth) {
  Type element = unwrap(elementType);
  MLIRContext *ctx = element.getContext();
  return wrap(Type(StreamType::getChecked(reporter(ctx), ctx, element, depth)));
}
MlirTypeID alloStreamTypeGetTypeID(void) { return wrap(StreamType::getTypeID()); }
MlirType alloStreamTypeGetElementType(MlirType type) {
  return wrap(cast<StreamType>(unwrap(type)).getElementType());
}
unsigned alloStreamTypeGetDepth(MlirType type) {
  return cast<StreamType>(unwrap(type)).getDepth();
}

//===-- iterative tensors ------------------------------------------------===//

static ArrayRef<int64_t> unwrap(AlloNumbers numbers) { return {numbers.numbers, size_t(numbers.count)}; }
static AlloNumbers wrap(ArrayRef<int64_t> numbers) { return {intptr_t(numbers.size()), numbers.data()}; }
static ITensorType unwrapITensor(MlirType type) { return cast<ITensorType>(unwrap(type)); }

bool alloTypeIsAnITensor(MlirType type) { return isa<ITensorType>(unwrap(type)); }
MlirType alloITensorTypeGet(MlirType elementType, AlloNumbers shape, AlloNumbers trips, AlloNumbers steps,
                            AlloNumbers factors, AlloNumbers offset) {
  Type element = unwrap(elementType);
  MLIRContext *ctx = element.getContext();
  return wrap(Type(ITensorType::getChecked(reporter(ctx), ctx, unwrap(shape), element, unwrap(trips),
                                           unwrap(steps), unwrap(factors), unwrap(offset))));
}
MlirTypeID alloITensorTypeGetTypeID(void) { return wrap(ITensorType::getTypeID()); }
MlirType alloITensorTypeGetElementType(MlirType type) { return wrap(unwrapITensor(type).getElementType()); }
AlloNumbers alloITensorTypeGetShape(MlirType type) { return wrap(unwrapITensor(type).getShape()); }
AlloNumbers alloITensorTypeGetTrips(MlirType type) { return wrap(unwrapITensor(type).getTrips()); }
AlloNumbers alloITensorTypeGetSteps(MlirType type) { return wrap(unwrapITensor(type).getSteps()); }
AlloNumbers alloITensorTypeGetFactors(MlirType type) { return wrap(unwrapITensor(type).getFactors()); }
AlloNumbers alloITensorTypeGetOffset(MlirType type) { return wrap(unwrapITensor(type).getOffset()); }

//===-- structs and handles ----------------------------------------------===//

bool alloTypeIsAStruct(MlirType type) { return isa<StructType>(unwrap(type)); }
MlirType alloStructTypeGet(MlirContext context, intptr_t count, const MlirStringRef *names,
                           const MlirType *types) {
  MLIRContext *ctx = unwrap(context);
  SmallVector<StringAttr> fieldNames;
  SmallVector<Type> fieldTypes;
  for (intptr_t i = 0; i < count; ++i) {
    fieldNames.push_back(StringAttr::get(ctx, unwrap(names[i])));
    fieldTypes.push_back(unwrap(types[i]));
  }
  return wrap(Type(StructType::getChecked(reporter(ctx), ctx, ArrayRef<StringAttr>(fieldNames),
                                          ArrayRef<Type>(fieldTypes))));
}
MlirTypeID alloStructTypeGetTypeID(void) { return wrap(StructType::getTypeID()); }
intptr_t alloStructTypeGetNumFields(MlirType type) {
  return cast<StructType>(unwrap(type)).getNames().size();
}
MlirStringRef alloStructTypeGetFieldName(MlirType type, intptr_t index) {
  return wrap(cast<StructType>(unwrap(type)).getNames()[index].getValue());
}
MlirType alloStructTypeGetFieldType(MlirType type, intptr_t index) {
  return wrap(cast<StructType>(unwrap(type)).getTypes()[index]);
}

bool alloTypeIsAHandle(MlirType type) { return isa<HandleType>(unwrap(type)); }
MlirType alloHandleTypeGet(MlirContext context) {
  return wrap(Type(HandleType::get(unwrap(context))));
}
MlirTypeID alloHandleTypeGetTypeID(void) { return wrap(HandleType::getTypeID()); }

//===-- partitions -------------------------------------------------------===//

bool alloAttributeIsAPartition(MlirAttribute attribute) {
  return isa<PartitionAttr>(unwrap(attribute));
}
MlirAttribute alloPartitionAttrGet(MlirContext context, intptr_t count, const MlirStringRef *kinds,
                                   const unsigned *factors) {
  MLIRContext *ctx = unwrap(context);
  SmallVector<PartitionDim> dims;
  for (intptr_t i = 0; i < count; ++i) {
    auto kind = symbolizePartitionKind(unwrap(kinds[i]));
    if (!kind) {
      reporter(ctx)() << "a dimension is partitioned as none, complete, cyclic or block, got '"
                      << unwrap(kinds[i]) << "'";
      return wrap(Attribute());
    }
    dims.push_back({*kind, factors[i]});
  }
  return wrap(
      Attribute(PartitionAttr::getChecked(reporter(ctx), ctx, ArrayRef<PartitionDim>(dims))));
}
MlirTypeID alloPartitionAttrGetTypeID(void) { return wrap(PartitionAttr::getTypeID()); }
intptr_t alloPartitionAttrGetNumDims(MlirAttribute attribute) {
  return cast<PartitionAttr>(unwrap(attribute)).getDims().size();
}
MlirStringRef alloPartitionAttrGetKind(MlirAttribute attribute, intptr_t dim) {
  return wrap(stringifyPartitionKind(cast<PartitionAttr>(unwrap(attribute)).getDims()[dim].kind));
}
unsigned alloPartitionAttrGetFactor(MlirAttribute attribute, intptr_t dim) {
  return cast<PartitionAttr>(unwrap(attribute)).getDims()[dim].factor;
}

//===-- self checks ------------------------------------------------------===//

bool alloTypeIsABuiltinMemRef(MlirType type) { return isa<MemRefType>(unwrap(type)); }
const void *alloTypeIDOfMemRefType(void) { return TypeID::get<MemRefType>().getAsOpaquePointer(); }
bool alloCompiledWithAssertions(void) {
#ifdef NDEBUG
  return false;
#else
  return true;
#endif
}
