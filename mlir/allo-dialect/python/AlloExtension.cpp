// The Python extension. It sees MLIR through the C API only: this file has RTTI and exceptions, MLIR has neither.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "allo-c/Allo.h"
#include "mlir-c/Bindings/Python/Interop.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"

namespace py = pybind11;

namespace nanobind::detail {
/// Of the library that the bindings of MLIR are made with: `patient` lives as long as `nurse`, an object of theirs.
void keep_alive(PyObject *nurse, PyObject *patient);
} // namespace nanobind::detail

//===-- objects of mlir.ir <-> C pointers --------------------------------===//

static py::object capsuleOf(py::handle object) {
  if (PyCapsule_CheckExact(object.ptr()))
    return py::reinterpret_borrow<py::object>(object);
  return object.attr(MLIR_PYTHON_CAPI_PTR_ATTR);
}
#define UNWRAP(NAME, CTYPE)                                                                        \
  static CTYPE to##NAME(py::handle handle) {                                                       \
    CTYPE value = mlirPythonCapsuleTo##NAME(capsuleOf(handle).ptr());                              \
    if (!value.ptr)                                                                                \
      throw py::error_already_set();                                                               \
    return value;                                                                                  \
  }
UNWRAP(DialectRegistry, MlirDialectRegistry)
UNWRAP(Type, MlirType)
UNWRAP(Attribute, MlirAttribute)
UNWRAP(Block, MlirBlock)
UNWRAP(Operation, MlirOperation)
#undef UNWRAP

/// The given context, or the one of the innermost `with`.
static MlirContext toContext(py::object object) {
  if (object.is_none())
    object = py::module_::import("mlir.ir").attr("Context").attr("current");
  MlirContext context = mlirPythonCapsuleToContext(capsuleOf(object).ptr());
  if (!context.ptr)
    throw py::error_already_set();
  return context;
}

static py::object wrapped(const char *className, PyObject *rawCapsule) {
  py::object capsule = py::reinterpret_steal<py::object>(rawCapsule);
  return py::module_::import("mlir.ir").attr(className).attr(MLIR_PYTHON_CAPI_FACTORY_ATTR)(capsule);
}
static py::object fromType(MlirType type) {
  return wrapped("Type", mlirPythonTypeToCapsule(type)).attr("maybe_downcast")();
}
static py::object fromAttribute(MlirAttribute attribute) {
  return wrapped("Attribute", mlirPythonAttributeToCapsule(attribute)).attr("maybe_downcast")();
}
static py::object fromTypeID(MlirTypeID id) {
  return wrapped("TypeID", mlirPythonTypeIDToCapsule(id));
}

static MlirStringRef refOf(const std::string &text) {
  return mlirStringRefCreate(text.data(), text.size());
}
static std::string textOf(MlirStringRef ref) { return std::string(ref.data, ref.length); }

//===-- diagnostics as ValueError ----------------------------------------===//

/// Collects what is reported while it lives.
class Diagnostics {
public:
  explicit Diagnostics(MlirContext context) : context(context) {
    id = mlirContextAttachDiagnosticHandler(context, &Diagnostics::handle, this, nullptr);
  }
  ~Diagnostics() { mlirContextDetachDiagnosticHandler(context, id); }
  Diagnostics(const Diagnostics &) = delete;

  MlirType checked(MlirType type) const { return type.ptr ? type : throw py::value_error(text); }
  MlirAttribute checked(MlirAttribute attribute) const {
    return attribute.ptr ? attribute : throw py::value_error(text);
  }

private:
  static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *self) {
    auto append = [](MlirStringRef part, void *out) {
      static_cast<std::string *>(out)->append(part.data, part.length);
    };
    mlirDiagnosticPrint(diagnostic, append, &static_cast<Diagnostics *>(self)->text);
    return mlirLogicalResultSuccess();
  }

  MlirContext context;
  MlirDiagnosticHandlerID id;
  std::string text;
};

/// An unsigned parameter from any Python integer; what is out of range is reported, not wrapped.
static unsigned toUnsigned(const char *what, py::int_ value) {
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow || number < 0 || number > 0xffffffffLL)
    throw py::value_error(std::string(what) + " is out of range: " + py::str(value).cast<std::string>());
  return static_cast<unsigned>(number);
}

//===-- the module -------------------------------------------------------===//

static void bindRegistration(py::module_ &m) {
  m.def("register_dialects", [](py::object registry) {
    mlirDialectHandleInsertDialect(mlirGetDialectHandle__allo__(), toDialectRegistry(registry));
  });
  m.def("load_dialect", [](py::object context) {
    MlirDialectHandle handle = mlirGetDialectHandle__allo__();
    MlirContext c = toContext(context);
    mlirDialectHandleRegisterDialect(handle, c);
    mlirDialectHandleLoadDialect(handle, c);
  });
  m.def("register_passes", [] { alloRegisterPasses(); });
  m.def("use_calling_threads", [](py::object context) { alloContextUseCallingThreads(toContext(context)); });
}

template <MlirType (*Get)(MlirContext, unsigned, unsigned, MlirStringRef, MlirStringRef)>
static py::object makeFixed(py::int_ width, py::int_ frac, py::object context,
                            const std::string &rounding, const std::string &overflow) {
  MlirContext c = toContext(context);
  Diagnostics diagnostics(c);
  return fromType(
      diagnostics.checked(Get(c, toUnsigned("the width", width), toUnsigned("frac", frac),
                              refOf(rounding), refOf(overflow))));
}

template <MlirStringRef (*Get)(MlirType)> static std::string fixedMode(py::object type) {
  return textOf(Get(toType(type)));
}

static void bindScalars(py::module_ &m) {
  auto bindFixed = [&](const char *name, auto make) {
    m.def(name, make, py::arg("width"), py::arg("frac"), py::arg("context") = py::none(),
          py::arg("rounding") = "trn", py::arg("overflow") = "wrap");
  };
  bindFixed("fixed_type", &makeFixed<alloFixedTypeGet>);
  bindFixed("ufixed_type", &makeFixed<alloUFixedTypeGet>);
  m.def("fixed_typeid", [] { return fromTypeID(alloFixedTypeGetTypeID()); });
  m.def("ufixed_typeid", [] { return fromTypeID(alloUFixedTypeGetTypeID()); });
  m.def("is_fixed", [](py::object t) { return alloTypeIsAFixed(toType(t)); });
  m.def("is_ufixed", [](py::object t) { return alloTypeIsAUFixed(toType(t)); });
  m.def("fixed_width", [](py::object t) { return alloFixedTypeGetWidth(toType(t)); });
  m.def("fixed_frac", [](py::object t) { return alloFixedTypeGetFrac(toType(t)); });
  m.def("fixed_rounding", &fixedMode<alloFixedTypeGetRounding>);
  m.def("fixed_overflow", &fixedMode<alloFixedTypeGetOverflow>);

  m.def("handle_type", [](py::object context) { return fromType(alloHandleTypeGet(toContext(context))); });
  m.def("handle_typeid", [] { return fromTypeID(alloHandleTypeGetTypeID()); });
  m.def("is_handle", [](py::object t) { return alloTypeIsAHandle(toType(t)); });
}

static void bindStreams(py::module_ &m) {
  m.def("stream_type", [](py::object element, py::int_ depth) {
    MlirType e = toType(element);
    Diagnostics diagnostics(mlirTypeGetContext(e));
    return fromType(diagnostics.checked(alloStreamTypeGet(e, toUnsigned("the depth", depth))));
  });
  m.def("stream_typeid", [] { return fromTypeID(alloStreamTypeGetTypeID()); });
  m.def("is_stream", [](py::object t) { return alloTypeIsAStream(toType(t)); });
  m.def("stream_element_type",
        [](py::object t) { return fromType(alloStreamTypeGetElementType(toType(t))); });
  m.def("stream_depth", [](py::object t) { return alloStreamTypeGetDepth(toType(t)); });
}

static AlloNumbers numbersOf(const std::vector<int64_t> &numbers) {
  return {static_cast<intptr_t>(numbers.size()), numbers.data()};
}

/// A tuple of the numbers that one of the accessors of an itensor gives.
template <AlloNumbers (*Get)(MlirType)> static py::tuple itensorNumbers(py::object type) {
  AlloNumbers numbers = Get(toType(type));
  py::tuple made(numbers.count);
  for (intptr_t i = 0; i < numbers.count; ++i)
    made[i] = numbers.numbers[i];
  return made;
}

static void bindITensors(py::module_ &m) {
  using Numbers = std::vector<int64_t>;
  m.def("itensor_type", [](py::object element, const Numbers &shape, const Numbers &trips, const Numbers &steps,
                           const Numbers &factors, const Numbers &offset) {
    MlirType e = toType(element);
    Diagnostics diagnostics(mlirTypeGetContext(e));
    return fromType(diagnostics.checked(alloITensorTypeGet(e, numbersOf(shape), numbersOf(trips), numbersOf(steps),
                                                           numbersOf(factors), numbersOf(offset))));
  });
  m.def("itensor_typeid", [] { return fromTypeID(alloITensorTypeGetTypeID()); });
  m.def("is_itensor", [](py::object t) { return alloTypeIsAnITensor(toType(t)); });
  m.def("itensor_element_type", [](py::object t) { return fromType(alloITensorTypeGetElementType(toType(t))); });
  m.def("itensor_shape", &itensorNumbers<alloITensorTypeGetShape>);
  m.def("itensor_trips", &itensorNumbers<alloITensorTypeGetTrips>);
  m.def("itensor_steps", &itensorNumbers<alloITensorTypeGetSteps>);
  m.def("itensor_factors", &itensorNumbers<alloITensorTypeGetFactors>);
  m.def("itensor_offset", &itensorNumbers<alloITensorTypeGetOffset>);
}

static void bindStructs(py::module_ &m) {
  m.def("struct_type", [](const std::vector<std::pair<std::string, py::object>> &fields,
                          py::object context) {
    std::vector<MlirStringRef> names;
    std::vector<MlirType> types;
    for (const auto &[name, type] : fields) {
      names.push_back(refOf(name));
      types.push_back(toType(type));
    }
    MlirContext c = types.empty() ? toContext(context) : mlirTypeGetContext(types.front());
    Diagnostics diagnostics(c);
    return fromType(
        diagnostics.checked(alloStructTypeGet(c, names.size(), names.data(), types.data())));
  });
  m.def("struct_typeid", [] { return fromTypeID(alloStructTypeGetTypeID()); });
  m.def("is_struct", [](py::object t) { return alloTypeIsAStruct(toType(t)); });
  m.def("struct_fields", [](py::object object) {
    MlirType type = toType(object);
    intptr_t count = alloStructTypeGetNumFields(type);
    py::tuple fields(count);
    for (intptr_t i = 0; i < count; ++i)
      fields[i] = py::make_tuple(textOf(alloStructTypeGetFieldName(type, i)),
                                 fromType(alloStructTypeGetFieldType(type, i)));
    return fields;
  });
}

static void bindPartitions(py::module_ &m) {
  m.def("partition_attr",
        [](const std::vector<std::pair<std::string, py::int_>> &dims, py::object context) {
          std::vector<MlirStringRef> kinds;
          std::vector<unsigned> factors;
          for (const auto &[kind, factor] : dims) {
            kinds.push_back(refOf(kind));
            factors.push_back(toUnsigned("the number of banks", factor));
          }
          MlirContext c = toContext(context);
          Diagnostics diagnostics(c);
          return fromAttribute(diagnostics.checked(
              alloPartitionAttrGet(c, kinds.size(), kinds.data(), factors.data())));
        });
  m.def("partition_typeid", [] { return fromTypeID(alloPartitionAttrGetTypeID()); });
  m.def("is_partition", [](py::object a) { return alloAttributeIsAPartition(toAttribute(a)); });
  m.def("partition_dims", [](py::object object) {
    MlirAttribute attribute = toAttribute(object);
    intptr_t count = alloPartitionAttrGetNumDims(attribute);
    py::tuple dims(count);
    for (intptr_t i = 0; i < count; ++i)
      dims[i] = py::make_tuple(textOf(alloPartitionAttrGetKind(attribute, i)),
                               alloPartitionAttrGetFactor(attribute, i));
    return dims;
  });
}

/// An object of mlir.ir that keeps `owner` alive: a module, or a block, which keeps its module.
static py::object operationOf(MlirOperation op, const py::object &owner) {
  static auto *make = new py::object( // kept for the life of the process: there is no interpreter when statics end
      py::module_::import("mlir.ir").attr("Operation").attr(MLIR_PYTHON_CAPI_FACTORY_ATTR));
  py::object made = (*make)(py::reinterpret_steal<py::object>(mlirPythonOperationToCapsule(op)));
  nanobind::detail::keep_alive(made.ptr(), owner.ptr());
  return made;
}

/// What `alloFindOperations` finds, as objects of mlir.ir; `NESTED` ones come with what is around them and their names.
template <bool NESTED>
static py::list findOperations(py::object block, const std::vector<std::string> &names, bool arrays,
                               bool below) {
  struct Found {
    MlirOperation op;
    intptr_t around;
  };
  std::vector<Found> found;
  std::vector<MlirStringRef> wanted;
  for (const std::string &name : names)
    wanted.push_back(refOf(name));
  auto note = [](MlirOperation op, intptr_t around, void *data) {
    static_cast<std::vector<Found> *>(data)->push_back({op, around});
  };
  alloFindOperations(toBlock(block), wanted.size(), wanted.data(), arrays, below, note, &found);

  auto text = [](MlirOperation op, const char *name) -> py::object {
    MlirAttribute value = mlirOperationGetDiscardableAttributeByName(op, mlirStringRefCreateFromCString(name));
    if (!value.ptr || !mlirAttributeIsAString(value))
      return py::none();
    return py::str(textOf(mlirStringAttrGetValue(value)));
  };
  py::list result(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    auto [op, around] = found[i];
    py::object made = operationOf(op, block);
    if constexpr (NESTED)
      result[i] = py::make_tuple(made, around, text(op, "allo.name"), text(op, "allo.nest"));
    else
      result[i] = made;
  }
  return result;
}

/// Names of functions, and what they are called otherwise.
struct Symbols {
  explicit Symbols(const std::vector<std::pair<std::string, std::string>> &pairs) {
    for (const auto &[name, other] : pairs) {
      names.push_back(refOf(name));
      others.push_back(refOf(other));
    }
  }
  std::vector<MlirStringRef> names, others;
};

static py::bytes fingerprint(py::object op, const std::vector<std::pair<std::string, std::string>> &symbols,
                             bool layouts) {
  Symbols s(symbols);
  std::string words;
  auto append = [](MlirStringRef part, void *out) {
    static_cast<std::string *>(out)->append(part.data, part.length);
  };
  alloFingerprint(toOperation(op), s.names.size(), s.names.data(), s.others.data(), layouts, append, &words);
  return py::bytes(words);
}

static void bindFunctions(py::module_ &m) {
  m.def("find_operations", [](py::object block, const std::vector<std::string> &names) {
    return findOperations<false>(block, names, false, true);
  });
  m.def("find_nested", [](py::object block, const std::vector<std::string> &names, bool arrays) {
    return findOperations<true>(block, names, arrays, true);
  });
  m.def("statements", [](py::object block) { return findOperations<false>(block, {}, false, false); });
  m.def("fingerprint", &fingerprint);
  m.def("rename_symbols", [](py::object op, const std::vector<std::pair<std::string, std::string>> &symbols) {
    Symbols s(symbols);
    alloRenameSymbols(toOperation(op), s.names.size(), s.names.data(), s.others.data());
  });
}

//===-- states of a module -----------------------------------------------===//

static py::object fromModule(MlirModule module) {
  return wrapped("Module", mlirPythonModuleToCapsule(module));
}

static uintptr_t numberOf(MlirOperation op) { return reinterpret_cast<uintptr_t>(op.ptr); }

/// What stands in a block, each with the name of its symbol and a number that no other operation has that lives.
static py::list topLevel(py::object block) {
  py::list found;
  auto note = [](MlirOperation op, MlirStringRef name, void *data) {
    static_cast<py::list *>(data)->append(py::make_tuple(py::str(name.data, name.length), numberOf(op)));
  };
  alloTopLevel(toBlock(block), note, &found);
  return found;
}

/// Whether operations of these numbers, and no others, stand in a block, in this order.
static bool standAs(py::object block, const std::vector<uintptr_t> &numbers) {
  struct Comparison {
    const std::vector<uintptr_t> &numbers;
    size_t count = 0;
    bool equal = true;
  } comparison{numbers};
  auto compare = [](MlirOperation op, MlirStringRef, void *data) {
    auto *known = static_cast<Comparison *>(data);
    known->equal &= known->count < known->numbers.size() && known->numbers[known->count] == numberOf(op);
    ++known->count;
  };
  alloTopLevel(toBlock(block), compare, &comparison);
  return comparison.equal && comparison.count == numbers.size();
}

/// The copy, and its number. `aside` lives from then on as long as `module`, which all objects for parts of the
/// operation keep alive.
static py::tuple setAside(py::object module, py::object op, py::object aside) {
  MlirOperation copy = alloSetAside(toOperation(op), toBlock(aside.attr("body")));
  nanobind::detail::keep_alive(module.ptr(), aside.ptr());
  return py::make_tuple(operationOf(copy, module), numberOf(copy));
}

static bool verifyChanged(py::object module, const std::vector<py::object> &changed,
                          const std::vector<py::object> &before, bool symbols) {
  std::vector<MlirOperation> operations, old;
  for (const py::object &op : changed)
    operations.push_back(toOperation(op));
  for (const py::object &op : before)
    old.push_back(op.is_none() ? MlirOperation{nullptr} : toOperation(op));
  return alloVerifyChanged(toOperation(module), operations.size(), operations.data(), old.data(), symbols);
}

static void bindStates(py::module_ &m) {
  m.def("clone_module", [](py::object module) {
    return fromModule(mlirModuleFromOperation(mlirOperationClone(toOperation(module))));
  });
  m.def("empty_module_like", [](py::object module) { return fromModule(alloEmptyModuleLike(toOperation(module))); });
  m.def("top_level", &topLevel);
  m.def("stand_as", &standAs);
  m.def("set_aside", &setAside);
  m.def("are_same", [](py::object left, py::object right, bool annotations) {
    return alloAreSame(toOperation(left), toOperation(right), annotations);
  });
  m.def("verify_changed", &verifyChanged);
}

PYBIND11_MODULE(_allo_mlir, m) {
  bindRegistration(m);
  bindScalars(m);
  bindStreams(m);
  bindITensors(m);
  bindStructs(m);
  bindPartitions(m);
  bindFunctions(m);
  bindStates(m);
  m.def("_is_memref", [](py::object t) { return alloTypeIsABuiltinMemRef(toType(t)); });
  m.def("_memref_typeid", [] { return reinterpret_cast<uintptr_t>(alloTypeIDOfMemRefType()); });
  m.attr("_assertions") = alloCompiledWithAssertions();
}
