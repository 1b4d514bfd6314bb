// Which `allo.*` attributes may stand on which operation, and with which values.
#include "allo/IR/AlloDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"
#include <limits>

using namespace mlir;
using namespace mlir::allo;

namespace {
enum class Place { Anywhere, Nest, Structured, Loop, CountedLoop, FunctionOrLoop, Buffer, Stream, Module };
enum class Kind { Text, Mark, Number, Memory, Order };

struct Rule {
  StringLiteral name;
  Place place;
  Kind kind;
  int64_t least; // of a number
};

constexpr StringLiteral kInternalPrefix = "allo.x_";
constexpr Rule kRules[] = {
    {"allo.name", Place::Anywhere, Kind::Text, 0},
    {"allo.nest", Place::Nest, Kind::Text, 0},
    {"allo.loops", Place::Structured, Kind::Text, 0}, // names for the loops of a linalg operation
    {"allo.pipeline", Place::Loop, Kind::Number, 1},
    {"allo.rewind", Place::Loop, Kind::Mark, 0},
    {"allo.unroll", Place::CountedLoop, Kind::Number, 0},
    {"allo.parallel", Place::Loop, Kind::Mark, 0},
    {"allo.scheduled", Place::Loop, Kind::Mark, 0}, // the loops of this nest are those that a schedule has made
    {"allo.memory", Place::Buffer, Kind::Memory, 0},
    {"allo.block", Place::Stream, Kind::Number, 1},  // elements that users put and get as a whole
    {"allo.packed", Place::Stream, Kind::Number, 1}, // elements in a word
    {"allo.itensor", Place::Stream, Kind::Order, 0}, // in which order elements of an array pass
    {"allo.spatial", Place::CountedLoop, Kind::Mark, 0},
    {"allo.dataflow", Place::FunctionOrLoop, Kind::Mark, 0},
    {"allo.top", Place::Module, Kind::Text, 0},
};

bool isLoop(Operation *op) {
  return llvm::StringSwitch<bool>(op->getName().getStringRef())
      .Cases({"affine.for", "scf.for", "scf.while", "affine.parallel", "scf.parallel", "scf.forall"},
             true)
      .Default(false);
}

bool isStructured(Operation *op) {
  return op->getName().getDialectNamespace() == "linalg";
}

bool isCountedLoop(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "affine.for" || name == "scf.for";
}

bool isBuffer(Operation *op) {
  return llvm::StringSwitch<bool>(op->getName().getStringRef())
      .Cases({"memref.alloc", "memref.alloca", "memref.get_global"}, true)
      .Default(false);
}

bool isStream(Operation *op) {
  if (isa<StreamCreateOp>(op))
    return true;
  auto memref = op->getName().getStringRef() == "memref.alloc" ? dyn_cast<MemRefType>(op->getResult(0).getType())
                                                               : MemRefType();
  return memref && isa<StreamType>(memref.getElementType());
}

const Rule *findRule(StringRef name) {
  const Rule *rule = llvm::find_if(kRules, [&](const Rule &r) { return r.name == name; });
  return rule == std::end(kRules) ? nullptr : rule;
}

StringRef nearestName(StringRef name) {
  const Rule *best = kRules;
  unsigned distance = std::numeric_limits<unsigned>::max();
  for (const Rule &rule : kRules)
    if (unsigned d = name.edit_distance(rule.name); d < distance)
      distance = d, best = &rule;
  return best->name;
}

LogicalResult unknown(Operation *op, StringRef name) {
  return op->emitOpError() << "unknown attribute '" << name << "'; did you mean '"
                           << nearestName(name) << "'? (a name of your own starts with '"
                           << kInternalPrefix << "')";
}

bool isNumber(Attribute value, int64_t least) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(32) && number.getInt() >= least;
}

// The memory that holds a buffer: {resource = "BRAM", storage_type = "RAM_2P", latency = 2 : i32, depth = 64 : i32}.
LogicalResult verifyMemory(Operation *op, Attribute value) {
  auto memory = dyn_cast<DictionaryAttr>(value);
  if (!memory)
    return op->emitOpError() << "attribute 'allo.memory' must be a dictionary, got " << value;
  for (NamedAttribute entry : memory) {
    StringRef name = entry.getName();
    bool isText = name == "resource" || name == "storage_type";
    if (!isText && name != "latency" && name != "depth")
      return op->emitOpError() << "attribute 'allo.memory' has 'resource', 'storage_type', "
                                  "'latency' and 'depth', not '"
                               << name << "'";
    if (isText && !isa<StringAttr>(entry.getValue()))
      return op->emitOpError() << "'" << name << "' of 'allo.memory' must be a string, got "
                               << entry.getValue();
    int64_t least = name == "depth";
    if (!isText && !isNumber(entry.getValue(), least))
      return op->emitOpError() << "'" << name << "' of 'allo.memory' must be an i32 of at least "
                               << least << ", got " << entry.getValue();
  }
  return success();
}

/// The elements of a block of the order pass one by one, or it is a block of the stream.
LogicalResult verifyOrder(Operation *op, Attribute value) {
  auto attribute = dyn_cast<TypeAttr>(value);
  auto order = attribute ? dyn_cast<ITensorType>(attribute.getValue()) : ITensorType();
  if (!order)
    return op->emitOpError() << "attribute 'allo.itensor' must be an !allo.itensor, got " << value;
  Type token = op->getResult(0).getType();
  if (auto memref = dyn_cast<MemRefType>(token))
    token = memref.getElementType();
  token = cast<StreamType>(token).getElementType();
  auto block = dyn_cast<ShapedType>(token);
  if (Type element = block ? block.getElementType() : token; element != order.getElementType())
    return op->emitOpError() << "the elements of 'allo.itensor' are " << order.getElementType()
                             << ", but those of the stream " << element;
  if (block && block.getShape() != order.getShape())
    return op->emitOpError() << "the blocks of 'allo.itensor' are not those of the stream, " << token << ": " << order;
  return success();
}

LogicalResult verifyValue(Operation *op, const Rule &rule, Attribute value) {
  switch (rule.kind) {
  case Kind::Text:
    if (isa<StringAttr>(value))
      return success();
    return op->emitOpError() << "attribute '" << rule.name << "' must be a string, got " << value;
  case Kind::Mark:
    if (isa<UnitAttr>(value))
      return success();
    return op->emitOpError() << "attribute '" << rule.name << "' takes no value, got " << value;
  case Kind::Memory:
    return verifyMemory(op, value);
  case Kind::Order:
    return verifyOrder(op, value);
  case Kind::Number:
    if (isNumber(value, rule.least))
      return success();
    return op->emitOpError() << "attribute '" << rule.name << "' must be an i32 of at least "
                             << rule.least << ", got " << value;
  }
  llvm_unreachable("all kinds are handled");
}

LogicalResult verifyPlace(Operation *op, const Rule &rule) {
  auto refuse = [&](StringRef place) {
    return op->emitOpError() << "attribute '" << rule.name << "' belongs on " << place;
  };
  switch (rule.place) {
  case Place::Anywhere:
    return success();
  case Place::Nest:
    return isLoop(op) || isStructured(op)
               ? success()
               : refuse("a loop (affine.for, scf.for, scf.while) or a linalg operation");
  case Place::Structured:
    return isStructured(op) ? success() : refuse("a linalg operation");
  case Place::Loop:
    return isLoop(op) ? success() : refuse("a loop (affine.for, scf.for, scf.while)");
  case Place::CountedLoop:
    return isCountedLoop(op) ? success() : refuse("affine.for or scf.for");
  case Place::FunctionOrLoop:
    return isLoop(op) || isa<FunctionOpInterface>(op) ? success() : refuse("a function or a loop");
  case Place::Buffer:
    return isBuffer(op) ? success() : refuse("memref.alloc, memref.alloca or memref.get_global");
  case Place::Stream:
    return isStream(op) ? success() : refuse("allo.stream_create or memref.alloc of streams");
  case Place::Module:
    return isa<ModuleOp>(op) ? success() : refuse("builtin.module");
  }
  llvm_unreachable("all places are handled");
}

LogicalResult verifySignatureAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name.starts_with(kInternalPrefix))
    return success();
  const Rule *rule = findRule(name);
  if (!rule)
    return unknown(op, name);
  if (rule->place != Place::Anywhere && rule->place != Place::Buffer)
    return op->emitOpError() << "attribute '" << name
                             << "' does not belong on an argument or result";
  return verifyValue(op, *rule, attribute.getValue());
}
} // namespace

LogicalResult AlloDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name.starts_with(kInternalPrefix))
    return success();
  const Rule *rule = findRule(name);
  if (!rule)
    return unknown(op, name);
  if (failed(verifyPlace(op, *rule)))
    return failure();
  return verifyValue(op, *rule, attribute.getValue());
}

LogicalResult AlloDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                    NamedAttribute attribute) {
  return verifySignatureAttribute(op, attribute);
}

LogicalResult AlloDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                       NamedAttribute attribute) {
  return verifySignatureAttribute(op, attribute);
}
