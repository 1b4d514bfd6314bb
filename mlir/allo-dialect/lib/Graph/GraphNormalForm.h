// Normal forms of expressions: equal numbers mean equal values, whatever the inputs.
#pragma once

#include "ComputationGraph.h"

namespace allo::graph {

/// For each expression the number of its normal form, 0 if an undefined value is in it; false if that needs more than
/// `most` terms or `seconds`.
///
/// Integers: sums are linear forms modulo 2^width; products, `and`, `or`, `xor`, minima and maxima have no order; an
/// extension goes through what does not overflow; conversions, shifts and masks by constants are bits of a value; terms
/// of sums may stand under conditions.
/// Floats: `a + b` is `b + a` and `a * b` is `b * a`; with `reassociate` sums and products are bags of terms, and sums
/// have no zeros.
bool normalForms(Graph &graph, const Id *ids, uint64_t count, bool reassociate, uint64_t most, double seconds,
                 uint32_t *forms);

} // namespace allo::graph
