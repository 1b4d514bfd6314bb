"""Computation of a function: each value is a copy of others, a choice between them, an operation or an integer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl
from mlir import ir

from ..ir.access import stored
from ..ir.walk import operations
from .extract import Reading
from .linear import Row, variable
from .model import Access, ModelBuffer
from .systems import basic_map

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
_CONTEXT = isl.DEFAULT_CONTEXT
_SELECT = ("arith.select",)  # of values of any type
_KEEPS_BITS = ("allo.sign_cast", "allo.bitcast", "arith.bitcast")
_COMPARED = ("=", "!=", "<", "<=", ">", ">=")  # predicates of arith.cmpi, of signed values
UNDEFINED = ("undefined",)

type Copies = list[tuple[Value, isl.Map]]  # { iteration -> iteration of the value that it is }


class NotUnderstood(Exception):
    """A value or an array of which the model does not say what it is."""


@dataclass(frozen=True, eq=False, slots=True)
class Value:
    """What is computed in each iteration of the `depth` loops around, or what each element of an array holds.

    Values are equal if their labels, numbers and operands are, or what they are copied from. Bits of a word have the
    number of the lowest one as their last dimension.
    """

    name: str
    depth: int
    label: tuple[str, ...] = ()  # name, type, types of operands, attributes; empty if nothing is known
    operands: tuple[Value, ...] = ()
    number: isl.Map | None = None  # { iteration -> integers }
    copies: Copies | None = None  # if that does not depend on memory
    read: Access | ModelBuffer | None = None  # what memory is read; a buffer: in the end
    word: Value | None = None  # the read that these are bits of
    width: int = 0  # how many bits

    @property
    def is_choice(self) -> bool:
        """Whether the value is that of one of its operands."""
        return self.copies is not None and self.label == _SELECT

    @property
    def is_copy(self) -> bool:
        """Whether the value comes from elsewhere."""
        copied = self.copies is not None or self.read is not None or self.word is not None
        return copied and not self.is_choice


class Computation:
    """The values of the only function of a module; parameters of the model get the names arg0, arg1, ..."""

    def __init__(self, read: Reading) -> None:
        self.module, self.model, self._forms = read.module, read.model, read.values
        self.entry = self.module.function(self.module.top).operation.regions[0].blocks[0]
        self.arguments = list(self.entry.arguments)
        if any(p.value not in self.arguments for p in self.model.parameters):
            raise NotUnderstood("what loops or subscripts depend on is computed")
        if any(str(argument.type).startswith("!allo.stream") for argument in self.arguments):
            raise NotUnderstood("an argument is a stream")
        named = tuple(replace(p, name=f"arg{self.arguments.index(p.value)}") for p in self.model.parameters)
        self.parameters = [p.name for p in named]
        self.accesses = [replace(access, parameters=named) for access in self.model.accesses]
        self._by_operation = {access.op: access for access in self.accesses}
        self._loops = {loop.op: loop.variable for loop in self.model.loops}
        self._names = {op: f"n{number}" for number, op in enumerate(operations(self.entry))}
        self._values: dict[ir.Value, Value] = {}

    def outputs(self) -> list[Value]:
        """What arrays among the arguments hold in the end, and what the function returns."""
        last = list(self.entry.operations)[-1].operation
        found: list[Value] = []
        arrays = [value for value in self.arguments if isinstance(value.type, ir.MemRefType)]
        for value in (*arrays, *last.operands):
            if isinstance(value.type, ir.MemRefType):
                buffer = self.model.buffer(value)
                if buffer is None or buffer.value != value or buffer.scope:
                    raise NotUnderstood(f"output {len(found)} is an array that is not understood")
                found.append(Value(f"output {len(found)}", len(buffer.shape), read=buffer))
            else:
                found.append(self.value(value))
        return found

    def initial(self, buffer: ModelBuffer) -> Value:
        """What an array holds before anything is written to it; the loops around its allocation come first."""
        depth = len(buffer.scope) + len(buffer.shape)
        if buffer.origin == "alloc":
            label: tuple[str, ...] = UNDEFINED
        elif buffer.origin == "argument":
            label = ("argument", str(self.arguments.index(buffer.value)))
        elif buffer.origin == "global" and buffer.value is not None:
            label = self._constant(buffer.value.owner.operation.attributes["name"])
        else:
            raise NotUnderstood(f"'{buffer.name}' is not an array of this program")
        return Value(f"initial {buffer.label}", depth, label, number=self.same(depth))

    def stored(self, name: str) -> Value:
        """What a store, or a put to a stream, writes; `name` is that of the access."""
        op = next(access.op for access in self.accesses if access.id == name)
        return self.value(stored(op))

    def _constant(self, symbol: ir.Attribute) -> tuple[str, ...]:
        name = ir.FlatSymbolRefAttr(symbol).value
        for op in self.module.mlir.body.operations:
            attributes = op.operation.attributes
            if "constant" in attributes and ir.StringAttr(attributes["sym_name"]).value == name:
                return "constant", str(attributes["type"]), str(attributes["initial_value"])
        raise NotUnderstood(f"'{name}' is an array outside of the program")

    # -- memory ------------------------------------------------------------------------------------------

    def relations(self, accesses: Iterable[Access]) -> tuple[isl.UnionMap, isl.UnionMap]:
        """{ access[iteration] -> element }, and { access[iteration] -> when it runs }."""
        maps = [(a.map.intersect_domain(a.domain), a.schedule(self.model.depth)) for a in accesses]
        elements, times = ([isl.UnionMap.from_map(pair[k]) for pair in maps] for k in range(2))
        nothing = isl.UnionMap.read_from_str(_CONTEXT, "{}")
        return reduce(isl.UnionMap.union, elements, nothing), reduce(isl.UnionMap.union, times, nothing)

    def reading(self, read: Access | ModelBuffer) -> tuple[isl.UnionMap, isl.UnionMap]:
        """The same of one read; what an array holds in the end is read by `End`, after everything else."""
        if isinstance(read, Access):
            return self.relations([read])
        output = Value("", len(read.shape), read=read)
        elements = self.elements(output).identity().set_tuple_name(_OUT, read.label)
        last = 1 + max((access.path[0] for access in self.accesses), default=0)
        time = isl.Map.from_domain(elements.domain()).add_dims(_OUT, 2 * self.model.depth + 1)
        times = isl.UnionMap.from_map(time.fix_val(_OUT, 0, last).set_tuple_name(_IN, "End"))
        return isl.UnionMap.from_map(elements.set_tuple_name(_IN, "End")), times

    def elements(self, output: Value) -> isl.Set:
        """The subscripts of an output, without an upper end where the extent is one of run time; one point if it is no
        array."""
        points = self.same(output.depth).domain()
        for k, extent in enumerate(output.read.shape if isinstance(output.read, ModelBuffer) else ()):
            points = points.lower_bound_val(_SET, k, 0)
            if extent is not None:
                points = points.upper_bound_val(_SET, k, extent - 1)
        return points

    # -- SSA values --------------------------------------------------------------------------------------

    def value(self, value: ir.Value) -> Value:
        """What an SSA value is."""
        if value not in self._values:
            self._values[value] = self._made(value)
        return self._values[value]

    def same(self, depth: int) -> isl.Map:
        """{ iteration -> the same iteration }"""
        space = isl.Space.create_from_names(
            _CONTEXT, set=[f"i{k}" for k in range(depth)], params=self.parameters
        )
        return isl.Set.universe(space).identity()

    def _made(self, value: ir.Value) -> Value:
        depth, kind = len(self._around(value)), str(value.type)
        if isinstance(value.owner, ir.Block):
            number, argument = self._affine(value), list(value.owner.arguments).index(value)
            if number is None and value.owner != self.entry:
                raise NotUnderstood("a loop passes values from one iteration to the next")
            label = ("argument", str(argument)) if number is None else ("index", kind)
            loop = "" if value.owner == self.entry else f" of {self._names[value.owner.owner.operation]}"
            return Value(f"argument {argument}{loop}", depth, label, number=number)
        op = value.owner.operation
        if op.name in _KEEPS_BITS:
            return self.value(op.operands[0])
        name, number = self._names[op], self._affine(value)
        if number is not None:
            return Value(name, depth, ("index", kind), number=number)
        if op in self._by_operation:
            return Value(name, depth, read=self._by_operation[op])
        if len(op.regions) or len(op.results) > 1 or not op.name.startswith(("arith.", "math.", "allo.")):
            raise NotUnderstood(f"the result of `{op.name}` is not understood")
        attributes = sorted(f"{key}={a}" for key, a in op.attributes.items() if not key.startswith("allo."))
        label = (op.name, kind, *(str(operand.type) for operand in op.operands), *attributes)
        made = Value(name, depth, label, tuple(map(self.value, op.operands)))
        if op.name == "arith.select":
            return replace(made, label=_SELECT, copies=self._choice(made, op.operands[0]))
        return self._sliced(made, op) if op.name in ("allo.get_slice", "allo.set_slice") else made

    def _around(self, value: ir.Value) -> tuple[int, ...]:
        """The variables of the loops around a value."""
        block = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
        loops: list[int] = []
        owner = block.owner.operation
        while owner.name != "func.func":
            if owner in self._loops:
                loops.insert(0, self._loops[owner])
            owner = owner.parent.operation
        return tuple(loops)

    def _outer(self, depth: int, kept: int) -> isl.Map:
        """{ iteration -> the outer part of it }"""
        return self.same(depth).project_out(_OUT, kept, depth - kept)

    # -- integers ----------------------------------------------------------------------------------------

    def is_affine(self, value: ir.Value) -> bool:
        """Whether the model takes an index or integer for a linear form of loops and parameters."""
        return self._affine(value) is not None

    def _affine(self, value: ir.Value) -> isl.Map | None:
        """{ iteration -> integer } of an affine index or integer of 32 to 64 bits."""
        wide = (
            isinstance(value.type, ir.IntegerType) and value.type.is_signless and 32 <= value.type.width <= 64
        )
        terms = self._forms.index(value) if wide or isinstance(value.type, ir.IndexType) else None
        if terms is None or terms.forms[0] is None:
            return None
        loops, parameters = self._around(value), [p.variable for p in self.model.parameters]
        rows = [Row(variable(-1) - terms.forms[0], True), *terms.rows()]
        names = [f"i{k}" for k in range(len(loops))]
        space = isl.Space.create_from_names(_CONTEXT, in_=names, out=["v"], params=self.parameters)
        found = isl.Map.from_basic_map(basic_map(parameters, loops, (-1,), rows, space))
        return found if found.is_single_valued() else None

    def _integer(self, value: ir.Value) -> isl.Map | None:
        """The same of sums and differences of other integers too, where they do not wrap."""
        found = self._affine(value)
        if found is not None or isinstance(value.owner, ir.Block):
            return found
        op = value.owner.operation
        sign = {"arith.addi": "+", "arith.subi": "-"}.get(op.name)
        both = self._integers(op.operands, len(self._around(value))) if sign else None
        if both is None or not isinstance(value.type, ir.IntegerType):
            return None
        most = 1 << (value.type.width - 1)
        return both.apply_range(isl.Map(f"{{ [x, y] -> [x {sign} y] : {-most} <= x {sign} y < {most} }}"))

    def _integers(self, values: Iterable[ir.Value], depth: int) -> isl.Map | None:
        """{ iteration of so many loops -> two integers }"""
        found = [self._integer(value) for value in values]
        known = [one.add_dims(_IN, depth - one.dim(_IN)) for one in found if one is not None]
        return known[0].flat_range_product(known[1]) if len(known) == 2 else None

    def _choice(self, made: Value, condition: ir.Value) -> Copies | None:
        """The operands of a select by a comparison of integers, each where it is taken."""
        op = None if isinstance(condition.owner, ir.Block) else condition.owner.operation
        if op is None or op.name != "arith.cmpi":
            return None
        both = self._integers(op.operands, made.depth)
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        if both is None or predicate >= len(_COMPARED):
            return None
        holds = both.intersect_range(isl.Set(f"{{ [x, y] : x {_COMPARED[predicate]} y }}")).domain()
        cases = (holds, both.domain().subtract(holds))
        chosen = [
            (operand, self._outer(made.depth, operand.depth).intersect_domain(case))
            for operand, case in zip(made.operands[1:], cases, strict=True)
        ]
        return [*chosen, self._unknown(made.name, both.domain().complement())]

    def _unknown(self, name: str, points: isl.Set) -> tuple[Value, isl.Map]:
        """A value that is not known in some iterations; that of another name may be another one."""
        depth = points.dim(_SET)
        return Value(f"unknown {name}", depth), self.same(depth).intersect_domain(points)

    # -- bits of words -----------------------------------------------------------------------------------

    def _sliced(self, made: Value, op: ir.Operation) -> Value:
        """An operation that takes as many bits out of a word, or puts as many in, as its type says."""
        part = op.results[0] if op.name == "allo.get_slice" else op.operands[3]
        bounds = self._integers([op.operands[1], op.operands[2]], made.depth)
        if bounds is None or not isinstance(part.type, ir.IntegerType):
            return made
        width = part.type.width
        if not bounds.range().is_subset(isl.Set(f"{{ [high, low] : high = low + {width} }}")):
            return made
        if op.name == "allo.set_slice":
            return replace(made, width=width)
        word = made.operands[0]
        lowest = self._outer(made.depth, word.depth).flat_range_product(bounds.project_out(_OUT, 0, 1))
        return replace(made, width=width, copies=[(self.bits(word, width), lowest)])

    def bits(self, word: Value, width: int) -> Value:
        """As many bits of a word, from each bit on."""
        made = Value(f"{width} bits of {word.name}", word.depth + 1, width=width)
        if word.copies is not None:
            return replace(made, copies=self.sliced(word.copies, width))
        if word.is_copy:
            return replace(made, word=word)
        if word.width:
            return replace(made, copies=self._after(word, width))
        if word.label == _SELECT and all(side.depth == word.depth for side in word.operands[1:]):
            sides = (self.bits(side, width) for side in word.operands[1:])
            return replace(made, label=_SELECT, operands=(word.operands[0], *sides))
        lowest = self.same(made.depth).project_out(_OUT, 0, word.depth)
        return replace(made, label=("bits", str(width)), operands=(word,), number=lowest)

    def sliced(self, copies: Copies, width: int) -> Copies:
        """What bits of a word are copied from, if that is what the word is copied from."""
        return [(self.bits(one, width), through.flat_product(self.same(1))) for one, through in copies]

    def _after(self, word: Value, width: int) -> Copies:
        """What bits of a word are copied from after `allo.set_slice`: the bits put in, or those before."""
        before, _, low, new = word.operands
        assert low.number is not None  # an index that is affine
        depth, given = word.depth, word.width
        lowest = low.number.add_dims(_IN, depth - low.depth).flat_product(self.same(1))
        offset = lowest.apply_range(isl.Map("{ [low, bit] -> [bit - low] }"))
        inside = offset.intersect_range(isl.Set(f"{{ [d] : 0 <= d <= {given - width} }}"))
        outside = offset.intersect_range(isl.Set(f"{{ [d] : d <= {-width} or d >= {given} }}")).domain()
        kept = self._outer(depth, before.depth).flat_product(self.same(1)).intersect_domain(outside)
        through = self._outer(depth + 1, new.depth).intersect_domain(inside.domain())
        put = (
            (new, through) if width == given else (self.bits(new, width), through.flat_range_product(inside))
        )
        return [
            put,
            (self.bits(before, width), kept),
            self._unknown(f"{width} bits of {word.name}", inside.domain().union(outside).complement()),
        ]
