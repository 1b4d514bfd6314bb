// What Python asks most of functions, without an object for each operation: finds operations, compares and renames
// functions.
#include "allo-c/Allo.h"

#include "allo/IR/AlloDialect.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::allo;

//===-- finding operations -----------------------------------------------===//

static bool hasArray(Operation &op) {
  return llvm::any_of(op.getResultTypes(), [](Type type) { return isa<MemRefType, StreamType>(type); });
}

namespace {
/// A walk that tells of each operation it looks for, and which of those is the innermost around it.
struct Finder {
  ArrayRef<StringRef> names; // empty: all
  bool arrays, below;
  AlloOperationCallback callback;
  void *data;
  intptr_t count = 0;

  bool wanted(Operation &op) const {
    return (names.empty() && !arrays) || llvm::is_contained(names, op.getName().getStringRef()) ||
           (arrays && hasArray(op));
  }
  void walk(Block &block, intptr_t around) {
    for (Operation &op : block) {
      intptr_t inside = around;
      if (wanted(op)) {
        inside = count++;
        callback(wrap(&op), around, data);
      }
      if (!below)
        continue;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          walk(inner, inside);
    }
  }
};
} // namespace

void alloFindOperations(MlirBlock block, intptr_t count, const MlirStringRef *names, bool arrays, bool below,
                        AlloOperationCallback callback, void *data) {
  SmallVector<StringRef> wanted;
  for (intptr_t i = 0; i < count; ++i)
    wanted.push_back(unwrap(names[i]));
  Finder{wanted, arrays, below, callback, data}.walk(*unwrap(block), -1);
}

//===-- comparing functions ----------------------------------------------===//

using Symbols = llvm::StringMap<StringRef>;

static Symbols symbolsOf(intptr_t count, const MlirStringRef *names, const MlirStringRef *others) {
  Symbols map;
  for (intptr_t i = 0; i < count; ++i)
    map[unwrap(names[i])] = unwrap(others[i]);
  return map;
}

static void replaceSymbols(AttrTypeReplacer &replacer, const Symbols &symbols) {
  replacer.addReplacement([&symbols](FlatSymbolRefAttr symbol) -> std::optional<Attribute> {
    auto other = symbols.find(symbol.getValue());
    if (other == symbols.end())
      return std::nullopt;
    return FlatSymbolRefAttr::get(symbol.getContext(), other->second);
  });
}

namespace {
/// Writes a function as words that say all but its places in the source: uniqued attributes and types by address,
/// values and blocks by the order in which they are met.
class Fingerprint {
public:
  Fingerprint(const Symbols &symbols, bool layouts) : symbols(symbols), plain(symbols.empty() && layouts) {
    replaceSymbols(replacer, symbols);
    if (!layouts)
      replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
        if (!isa<PartitionAttr>(type.getLayout()))
          return std::nullopt;
        return MemRefType::get(type.getShape(), type.getElementType(), MemRefLayoutAttrInterface(),
                               type.getMemorySpace());
      });
  }

  void add(Operation &op) {
    address(op.getName().getAsOpaquePointer());
    address(replaced(attributesOf(op)).getAsOpaquePointer());
    values(op.getOperands());
    types(op.getResultTypes());
    values(op.getResults());
    number(op.getNumSuccessors());
    for (Block *successor : op.getSuccessors())
      number(numberOf(successor));
    number(op.getNumRegions());
    for (Region &region : op.getRegions()) {
      number(region.getBlocks().size());
      for (Block &block : region) {
        number(numberOf(&block));
        types(block.getArgumentTypes());
        values(block.getArguments());
        number(block.getOperations().size());
        for (Operation &inner : block)
          add(inner);
      }
    }
  }

  std::string words;

private:
  /// The attributes; the name of a function is a string, and is replaced as if a call named it.
  DictionaryAttr attributesOf(Operation &op) {
    DictionaryAttr attributes = op.getAttrDictionary();
    auto name = attributes.getAs<StringAttr>(SymbolTable::getSymbolAttrName());
    auto other = name ? symbols.find(name.getValue()) : symbols.end();
    if (other == symbols.end())
      return attributes;
    NamedAttrList renamed(attributes);
    renamed.set(SymbolTable::getSymbolAttrName(), StringAttr::get(op.getContext(), other->second));
    return renamed.getDictionary(op.getContext());
  }
  void number(uint64_t value) { words.append(reinterpret_cast<const char *>(&value), sizeof value); }
  void address(const void *pointer) { number(reinterpret_cast<uintptr_t>(pointer)); }
  uint64_t numberOf(const void *object) { return numbers.try_emplace(object, numbers.size()).first->second; }
  template <typename T> T replaced(T value) { return plain ? value : cast<T>(replacer.replace(value)); }
  template <typename Range> void values(Range range) {
    number(llvm::range_size(range));
    for (Value value : range)
      number(numberOf(value.getAsOpaquePointer()));
  }
  template <typename Range> void types(Range range) {
    number(llvm::range_size(range));
    for (Type type : range)
      address(replaced(type).getAsOpaquePointer());
  }

  const Symbols &symbols;
  bool plain; // nothing is replaced
  AttrTypeReplacer replacer;
  llvm::DenseMap<const void *, uint64_t> numbers;
};
} // namespace

void alloFingerprint(MlirOperation op, intptr_t count, const MlirStringRef *symbols,
                     const MlirStringRef *others, bool layouts, MlirStringCallback callback, void *data) {
  Symbols map = symbolsOf(count, symbols, others);
  Fingerprint fingerprint(map, layouts);
  fingerprint.add(*unwrap(op));
  callback(mlirStringRefCreate(fingerprint.words.data(), fingerprint.words.size()), data);
}

void alloRenameSymbols(MlirOperation function, intptr_t count, const MlirStringRef *symbols,
                       const MlirStringRef *others) {
  Symbols map = symbolsOf(count, symbols, others);
  Operation *op = unwrap(function);
  auto other = map.find(SymbolTable::getSymbolName(op).getValue());
  if (other != map.end())
    SymbolTable::setSymbolName(op, other->second);
  AttrTypeReplacer replacer;
  replaceSymbols(replacer, map);
  replacer.recursivelyReplaceElementsIn(op);
}
