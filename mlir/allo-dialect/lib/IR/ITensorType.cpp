// Iterative tensors: which ones there are, and how they are written.
#include "allo/IR/AlloDialect.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::allo;

/// Numbers in brackets, `[4, 2]`.
static void printNumbers(AsmPrinter &printer, ArrayRef<int64_t> numbers) {
  printer << '[';
  llvm::interleaveComma(numbers, printer);
  printer << ']';
}

static ParseResult parseNumbers(AsmParser &parser, SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(numbers.emplace_back()); });
}

/// Add `scale` times an expression to a sum, the factors of `sum.size() - 1` variables and a number; whether it is one.
static bool addTo(MutableArrayRef<int64_t> sum, AffineExpr expr, int64_t scale) {
  auto add = [&](size_t place, int64_t value) {
    return !llvm::MulOverflow(value, scale, value) && !llvm::AddOverflow(sum[place], value, sum[place]);
  };
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return add(dim.getPosition(), 1);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return add(sum.size() - 1, constant.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return addTo(sum, binary.getLHS(), scale) && addTo(sum, binary.getRHS(), scale);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && factor &&
         !llvm::MulOverflow(scale, factor.getValue(), scale) && addTo(sum, binary.getLHS(), scale);
}

/// The least subscript in a dimension; none if that is out of range.
static std::optional<int64_t> lowestOf(ArrayRef<int64_t> trips, ArrayRef<int64_t> steps, ArrayRef<int64_t> factors,
                                       int64_t offset) {
  for (auto [trip, step, factor] : llvm::zip_equal(trips, steps, factors)) {
    int64_t last;
    if (llvm::MulOverflow(trip - 1, step, last) || llvm::MulOverflow(last, factor, last))
      return std::nullopt;
    if (llvm::AddOverflow(offset, std::min<int64_t>(last, 0), offset))
      return std::nullopt;
  }
  return offset;
}

LogicalResult ITensorType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                                  Type elementType, ArrayRef<int64_t> trips, ArrayRef<int64_t> steps,
                                  ArrayRef<int64_t> factors, ArrayRef<int64_t> offset) {
  if (!isScalarType(elementType))
    return emitError() << "the elements of an itensor are scalars or structs, got " << elementType;
  if (trips.size() != steps.size())
    return emitError() << "an itensor has a step for each trip count, got " << trips.size() << " trip counts and "
                       << steps.size() << " steps";
  if (offset.size() != shape.size())
    return emitError() << "the map of an itensor gives a subscript for each dimension of a block, " << shape.size()
                       << ", got " << offset.size();
  if (factors.size() != shape.size() * trips.size())
    return emitError() << "each subscript of an itensor is over its " << trips.size() << " loops, got "
                       << factors.size() << " factors in " << shape.size() << " dimensions";
  auto demand = [&](StringRef what, ArrayRef<int64_t> numbers) -> LogicalResult {
    for (auto [place, number] : llvm::enumerate(numbers))
      if (number < 1)
        return emitError() << what << " " << place << " of an itensor must be at least 1, got " << number;
    return success();
  };
  if (failed(demand("extent", shape)) || failed(demand("trip count", trips)) || failed(demand("step", steps)))
    return failure();
  for (auto [dim, low] : llvm::enumerate(offset)) {
    std::optional<int64_t> lowest = lowestOf(trips, steps, factors.slice(dim * trips.size(), trips.size()), low);
    if (!lowest)
      return emitError() << "the subscripts of an itensor in dimension " << dim << " are out of range";
    if (*lowest < 0)
      return emitError() << "an itensor begins in front of the array: the least subscript in dimension " << dim
                         << " is " << *lowest;
  }
  return success();
}

AffineMap ITensorType::getMap() const {
  MLIRContext *context = getContext();
  SmallVector<AffineExpr> results;
  for (auto [dim, low] : llvm::enumerate(getOffset())) {
    AffineExpr sum = getAffineConstantExpr(0, context);
    for (size_t loop = 0; loop < getTrips().size(); ++loop)
      sum = sum + getAffineDimExpr(loop, context) * getFactor(dim, loop);
    results.push_back(sum + low);
  }
  return AffineMap::get(getTrips().size(), 0, results, context);
}

Type ITensorType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, trips, steps;
  Type elementType;
  AffineMap map;
  SMLoc loc = parser.getCurrentLocation(), mapLoc;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false, /*withTrailingX=*/true) ||
      parser.parseType(elementType) || parser.parseComma() || parseNumbers(parser, trips) || parser.parseStar() ||
      parseNumbers(parser, steps) || parser.parseComma() || parser.getCurrentLocation(&mapLoc) ||
      parser.parseAffineMap(map) || parser.parseGreater())
    return {};
  if (map.getNumSymbols()) {
    parser.emitError(mapLoc, "the map of an itensor has no symbols");
    return {};
  }
  if (map.getNumDims() != trips.size()) {
    parser.emitError(mapLoc) << "the map of an itensor is over a variable for each trip count, " << trips.size()
                             << ", got " << map.getNumDims();
    return {};
  }
  SmallVector<int64_t> factors, offset;
  for (auto [dim, result] : llvm::enumerate(map.getResults())) {
    SmallVector<int64_t> sum(trips.size() + 1);
    if (!addTo(sum, result, 1)) {
      parser.emitError(mapLoc) << "subscript " << dim
                               << " of an itensor is no sum of its variables, with factors, and a number";
      return {};
    }
    offset.push_back(sum.pop_back_val());
    llvm::append_range(factors, sum);
  }
  using Numbers = ArrayRef<int64_t>;
  return parser.getChecked<ITensorType>(loc, parser.getContext(), Numbers(shape), elementType, Numbers(trips),
                                        Numbers(steps), Numbers(factors), Numbers(offset));
}

void ITensorType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape())
    printer << extent << 'x';
  printer << getElementType() << ", ";
  printNumbers(printer, getTrips());
  printer << " * ";
  printNumbers(printer, getSteps());
  printer << ", " << getMap() << '>';
}
