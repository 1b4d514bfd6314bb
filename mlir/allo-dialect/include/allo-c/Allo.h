/* The C API of the dialect: the only thing that the Python extension and other languages see. */
#ifndef ALLO_C_ALLO_H
#define ALLO_C_ALLO_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Allo, allo);
MLIR_CAPI_EXPORTED void alloRegisterPasses(void);
/// Passes and verifiers of the context work in the thread that asks for them, and the context has no threads of its own;
/// several threads may still use it at the same time.
MLIR_CAPI_EXPORTED void alloContextUseCallingThreads(MlirContext context);

/* A `Get` with bad parameters reports a diagnostic and returns a null type or attribute. */

MLIR_CAPI_EXPORTED bool alloTypeIsAFixed(MlirType type);
MLIR_CAPI_EXPORTED bool alloTypeIsAUFixed(MlirType type);
/// `rounding` and `overflow` by their names in the type, such as "trn" and "wrap".
MLIR_CAPI_EXPORTED MlirType alloFixedTypeGet(MlirContext context, unsigned width, unsigned frac,
                                             MlirStringRef rounding, MlirStringRef overflow);
MLIR_CAPI_EXPORTED MlirType alloUFixedTypeGet(MlirContext context, unsigned width, unsigned frac,
                                              MlirStringRef rounding, MlirStringRef overflow);
MLIR_CAPI_EXPORTED MlirTypeID alloFixedTypeGetTypeID(void);
MLIR_CAPI_EXPORTED MlirTypeID alloUFixedTypeGetTypeID(void);
/* of both kinds */
MLIR_CAPI_EXPORTED unsigned alloFixedTypeGetWidth(MlirType type);
MLIR_CAPI_EXPORTED unsigned alloFixedTypeGetFrac(MlirType type);
MLIR_CAPI_EXPORTED MlirStringRef alloFixedTypeGetRounding(MlirType type);
MLIR_CAPI_EXPORTED MlirStringRef alloFixedTypeGetOverflow(MlirType type);

MLIR_CAPI_EXPORTED bool alloTypeIsAStream(MlirType type);
MLIR_CAPI_EXPORTED MlirType alloStreamTypeGet(MlirType elementType, unsigned depth);
MLIR_CAPI_EXPORTED MlirTypeID alloStreamTypeGetTypeID(void);
MLIR_CAPI_EXPORTED MlirType alloStreamTypeGetElementType(MlirType type);
MLIR_CAPI_EXPORTED unsigned alloStreamTypeGetDepth(MlirType type);

/* `factors` has those of all loops in the first subscript, then in the second one, ...; `offset` one for each extent. */
MLIR_CAPI_EXPORTED bool alloTypeIsAnITensor(MlirType type);
typedef struct {
  intptr_t count;
  const int64_t *numbers;
} AlloNumbers;
MLIR_CAPI_EXPORTED MlirType alloITensorTypeGet(MlirType elementType, AlloNumbers shape, AlloNumbers trips,
                                               AlloNumbers steps, AlloNumbers factors, AlloNumbers offset);
MLIR_CAPI_EXPORTED MlirTypeID alloITensorTypeGetTypeID(void);
MLIR_CAPI_EXPORTED MlirType alloITensorTypeGetElementType(MlirType type);
/* These belong to the type. */
MLIR_CAPI_EXPORTED AlloNumbers alloITensorTypeGetShape(MlirType type);
MLIR_CAPI_EXPORTED AlloNumbers alloITensorTypeGetTrips(MlirType type);
MLIR_CAPI_EXPORTED AlloNumbers alloITensorTypeGetSteps(MlirType type);
MLIR_CAPI_EXPORTED AlloNumbers alloITensorTypeGetFactors(MlirType type);
MLIR_CAPI_EXPORTED AlloNumbers alloITensorTypeGetOffset(MlirType type);

MLIR_CAPI_EXPORTED bool alloTypeIsAStruct(MlirType type);
MLIR_CAPI_EXPORTED MlirType alloStructTypeGet(MlirContext context, intptr_t count,
                                              const MlirStringRef *names, const MlirType *types);
MLIR_CAPI_EXPORTED MlirTypeID alloStructTypeGetTypeID(void);
MLIR_CAPI_EXPORTED intptr_t alloStructTypeGetNumFields(MlirType type);
MLIR_CAPI_EXPORTED MlirStringRef alloStructTypeGetFieldName(MlirType type, intptr_t index);
MLIR_CAPI_EXPORTED MlirType alloStructTypeGetFieldType(MlirType type, intptr_t index);

MLIR_CAPI_EXPORTED bool alloTypeIsAHandle(MlirType type);
MLIR_CAPI_EXPORTED MlirType alloHandleTypeGet(MlirContext context);
MLIR_CAPI_EXPORTED MlirTypeID alloHandleTypeGetTypeID(void);

/* A kind is "none", "complete", "cyclic" or "block"; the first two have the factor 0. */
MLIR_CAPI_EXPORTED bool alloAttributeIsAPartition(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute alloPartitionAttrGet(MlirContext context, intptr_t count,
                                                      const MlirStringRef *kinds,
                                                      const unsigned *factors);
MLIR_CAPI_EXPORTED MlirTypeID alloPartitionAttrGetTypeID(void);
MLIR_CAPI_EXPORTED intptr_t alloPartitionAttrGetNumDims(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirStringRef alloPartitionAttrGetKind(MlirAttribute attribute, intptr_t dim);
MLIR_CAPI_EXPORTED unsigned alloPartitionAttrGetFactor(MlirAttribute attribute, intptr_t dim);

/* Functions. */
typedef void (*AlloOperationCallback)(MlirOperation op, intptr_t around, void *data);
/// Calls back for operations of a block, and of all regions `below`, in the order of the text: those with one of the names
/// and, with `arrays`, those with a result that is an array or a stream; all without names and `arrays`. `around` is
/// the number of the innermost of them, from 0, that contains the operation, or -1. Nothing may be changed meanwhile.
MLIR_CAPI_EXPORTED void alloFindOperations(MlirBlock block, intptr_t count, const MlirStringRef *names,
                                           bool arrays, bool below, AlloOperationCallback callback,
                                           void *data);
/// Bytes that are equal for two operations of a context just if these are, but for places in the source. Symbols of
/// the list stand for others; without `layouts`, partitions of arrays count as none.
MLIR_CAPI_EXPORTED void alloFingerprint(MlirOperation op, intptr_t count, const MlirStringRef *symbols,
                                        const MlirStringRef *others, bool layouts,
                                        MlirStringCallback callback, void *data);

/// Give a function, and what it names, other names.
MLIR_CAPI_EXPORTED void alloRenameSymbols(MlirOperation function, intptr_t count, const MlirStringRef *symbols,
                                          const MlirStringRef *others);
/* States of a module that share functions. */
/// A module with the place and the attributes of another one, and nothing in it.
MLIR_CAPI_EXPORTED MlirModule alloEmptyModuleLike(MlirOperation module);
/// Calls back for what stands in a block itself, with the name of its symbol, which may be empty.
typedef void (*AlloSymbolCallback)(MlirOperation op, MlirStringRef name, void *data);
MLIR_CAPI_EXPORTED void alloTopLevel(MlirBlock block, AlloSymbolCallback callback, void *data);
/// Put a copy of an operation in its place, and itself at the end of `aside`; the copy.
MLIR_CAPI_EXPORTED MlirOperation alloSetAside(MlirOperation op, MlirBlock aside);
/// Whether two operations are the same, places in the source included, and names and other `annotations` if wanted.
MLIR_CAPI_EXPORTED bool alloAreSame(MlirOperation left, MlirOperation right, bool annotations);
/// Whether a module is valid if what stands in it beside `changed` is, and `before` each of them, where it is not null,
/// what it was: symbols that these use are looked up, and with `symbols` those that all use. Diagnostics are dropped: the
/// verifier of MLIR reports them.
MLIR_CAPI_EXPORTED bool alloVerifyChanged(MlirOperation module, intptr_t count, const MlirOperation *changed,
                                          const MlirOperation *before, bool symbols);

/* Self checks of the build: does this library see the same MLIR as the caller? */
MLIR_CAPI_EXPORTED bool alloTypeIsABuiltinMemRef(MlirType type);
MLIR_CAPI_EXPORTED const void *alloTypeIDOfMemRefType(void);
MLIR_CAPI_EXPORTED bool alloCompiledWithAssertions(void);

#ifdef __cplusplus
}
#endif
#endif
