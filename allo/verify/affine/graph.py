"""Computation graph of a program: the node of each value, and the iterations that it has."""

from __future__ import annotations

import islpy as isl
from mlir import ir

from ...ir.access import is_at_stream, is_load, is_put, is_store, sees_element, stored
from ...ir.walk import argument_name, operations
from ...poly.extract import Reading
from ...poly.linear import Row, variable
from ...poly.model import Access, ModelBuffer, source_of
from ...poly.relations import Relations
from .choices import cases_of
from .nodes import Gap, Kind, Output, ValueNode
from .slices import slice_width


class ComputationGraph:
    """The nodes of one program, made when they are first asked for."""

    def __init__(self, read: Reading) -> None:
        self.outputs: list[Output] = []
        self._nodes: dict[ir.Value, ValueNode] = {}
        self._inputs: dict[str, ValueNode] = {}
        self._loads: dict[ir.Operation, Access] = {}
        self._domains: dict[ir.Block, isl.Set] = {}
        self._recurs: dict[ValueNode, bool] = {}
        self.module, self.model, self.values = read.module, read.model, read.values
        self.entry = self.module.function(self.module.top).operation.regions[0].blocks[0]
        self.arguments = list(self.entry.arguments)
        self._numbers = {op: number for number, op in enumerate(operations(self.entry))}
        self.loop_of = {loop.op: loop for loop in self.model.loops}
        self.accesses: dict[str, list[Access]] = {}
        for access in self.model.accesses:
            self.accesses.setdefault(access.buffer.label, []).append(access)
            self._loads[access.op] = access
        parameters: dict[int, str] = {}
        for parameter in self.model.parameters:
            if parameter.value not in self.arguments:
                owner = parameter.value.owner
                at = None if isinstance(owner, ir.Block) else source_of(owner.operation)
                raise Gap(f"'{parameter.name}', on which loops or subscripts depend, is computed", at)
            parameters[parameter.variable] = f"arg{self.arguments.index(parameter.value)}"
        self.relations = Relations(parameters, self.model.depth)
        self._find_outputs()

    def _find_outputs(self) -> None:
        for number, argument in enumerate(self.arguments):
            if isinstance(argument.type, ir.MemRefType):
                buffer = self.model.buffer(argument)
                assert buffer is not None
                self.outputs.append(Output(buffer.name, buffer, None))
            elif str(argument.type).startswith("!allo.stream"):
                raise Gap(f"argument {number} is a stream", source_of(self.entry.owner.operation))
        returned = self.entry.operations[len(self.entry.operations) - 1].operation
        for number, value in enumerate(returned.operands):
            is_array = isinstance(value.type, ir.MemRefType)
            found = self.model.buffer(value) if is_array else None
            if is_array and (found is None or found.value != value or found.scope):
                raise Gap(f"result {number} is an array that is not understood", source_of(returned))
            self.outputs.append(Output(f"result {number}", found, None if is_array else value))

    # -- iterations --------------------------------------------------------------------------------------

    def iterations(self, node: ValueNode) -> isl.Set | None:
        """Where the value of a node is computed, if that is known; a superset within conditions."""
        if node.kind in (Kind.INPUT, Kind.UNDEFINED):
            return None if node.shape is None else self._box(node.shape, node.depth)
        if node.block is None:
            return None
        return self.iterations_of(node.block)

    def iterations_of(self, block: ir.Block) -> isl.Set:
        """Where the operations of a block run; a superset within conditions."""
        if block not in self._domains:
            self._domains[block] = self._block_domain(block)
        return self._domains[block]

    def elements(self, number: int) -> isl.Set:
        """The elements of an output; extents of run time have no upper end."""
        output = self.outputs[number]
        shape = () if output.buffer is None else output.buffer.shape
        return self._box(shape, len(shape))

    def _box(self, shape: tuple[int | None, ...], depth: int) -> isl.Set:
        points = self.relations.universe(depth)
        for k, extent in enumerate(shape, depth - len(shape)):
            points = points.lower_bound_val(isl.dim_type.set, k, 0)
            if extent is not None:
                points = points.upper_bound_val(isl.dim_type.set, k, extent - 1)
        return points

    def _block_domain(self, block: ir.Block) -> isl.Set:
        for access in self.model.accesses:
            if access.op.block == block and access.exact_domain:
                return self.relations.domain(access)
        owner = block.owner.operation
        while owner.name != "func.func":
            if owner in self.loop_of:
                loop = self.loop_of[owner]
                variables = self.loops_around(owner.regions[0].blocks[0])
                return self.relations.points(variables, loop.pieces)
            owner = owner.parent.operation
        return self.relations.universe(0)

    # -- nodes -------------------------------------------------------------------------------------------

    def node(self, value: ir.Value) -> ValueNode:
        """The node of an SSA value."""
        found = self._nodes.get(value)
        if found is None:
            alias = _same_bits(value)
            if alias is not None:
                found = self._nodes[value] = self.node(alias)
                return found
            found = self._make(value)
            if isinstance(value.owner, ir.Block):
                found.id, found.block = self._argument_id(value), value.owner
            else:
                op = value.owner.operation
                found.id, found.block = f"n{self._numbers[op]}", op.block
            self._nodes[value] = found
        return found

    def _argument_id(self, value: ir.Value) -> str:
        number = list(value.owner.arguments).index(value)
        loop = "" if value.owner == self.entry else f" of n{self._numbers[value.owner.owner.operation]}"
        return f"argument {number}{loop}"

    def output(self, number: int) -> ValueNode:
        """What the program leaves behind in an output."""
        output = self.outputs[number]
        if output.value is not None:
            return self.node(output.value)
        assert output.buffer is not None
        label = f"output {number}"
        if label not in self._inputs:
            self._inputs[label] = ValueNode(
                label, Kind.READ, len(output.buffer.shape), output=number, name=output.name
            )
        return self._inputs[label]

    def initial(self, buffer: ModelBuffer) -> ValueNode:
        """What an array holds before the program has written to it."""
        label = f"initial {buffer.label}"
        if label not in self._inputs:
            self._inputs[label] = self._initial(label, buffer)
            self._inputs[label].shape = buffer.shape
        return self._inputs[label]

    def _initial(self, label: str, buffer: ModelBuffer) -> ValueNode:
        depth = len(buffer.scope) + len(buffer.shape)
        if buffer.origin == "alloc":
            return ValueNode(label, Kind.UNDEFINED, depth, source=buffer.source, name=buffer.name)
        assert buffer.value is not None
        if buffer.origin == "argument":
            number = self.arguments.index(buffer.value)
            return ValueNode(
                label, Kind.INPUT, depth, ("argument", str(number)), source=buffer.source, name=buffer.name
            )
        if buffer.origin == "global":
            return ValueNode(label, Kind.INPUT, depth, self._constant(buffer), source=buffer.source, name=buffer.name)
        raise Gap(f"'{buffer.name}' comes from an operation that is not understood", buffer.source)

    def _constant(self, buffer: ModelBuffer) -> tuple[str, ...]:
        assert buffer.value is not None
        symbol = ir.FlatSymbolRefAttr(buffer.value.owner.operation.attributes["name"]).value
        for op in self.module.mlir.body.operations:
            attributes = op.operation.attributes
            named = "sym_name" in attributes and ir.StringAttr(attributes["sym_name"]).value == symbol
            if named and "constant" in attributes:
                return "constant", str(attributes["type"]), str(attributes["initial_value"])
        raise Gap(f"'{buffer.name}' is an array outside of the program", buffer.source)

    def loops_around(self, block: ir.Block) -> tuple[int, ...]:
        """The variables of the loops around the operations of a block."""
        owner = block.owner.operation
        loops: list[int] = []
        while owner.name != "func.func":
            if owner in self.loop_of:
                loops.insert(0, self.loop_of[owner].variable)
            owner = owner.parent.operation
        return tuple(loops)

    def _make(self, value: ir.Value) -> ValueNode:
        owner = value.owner
        name = ""
        form = self.affine(value)
        if form is not None:
            return form
        if isinstance(owner, ir.Block):
            if value in self.arguments:
                number = self.arguments.index(value)
                label = argument_name(value) or f"argument {number}"
                return ValueNode(name, Kind.INPUT, 0, ("argument", str(number)), name=label)
            raise Gap("a loop passes values from one iteration to the next", source_of(owner.owner.operation))
        op = owner.operation
        variables = self.loops_around(op.block)
        if is_load(op) or sees_element(op):
            access = self._loads.get(op)
            if access is None:
                raise Gap(f"`{op.name}` is not understood", source_of(op))
            return ValueNode(name, Kind.READ, len(variables), access=access, source=source_of(op))
        if is_at_stream(op) or len(op.regions) or not op.name.startswith(("arith.", "math.", "allo.")):
            raise Gap(f"the result of `{op.name}` is not understood", source_of(op))
        operands = tuple(self.node(operand) for operand in op.operands)
        if op.name == "arith.select" and (cases := cases_of(self, op.operands[0])) is not None:
            return ValueNode(
                name, Kind.CHOICE, len(variables), operands=operands[1:], cases=cases, source=source_of(op)
            )
        number = list(op.results).index(value)
        width = slice_width(self, op, operands)
        kind = Kind.READ if width and op.name == "allo.get_slice" else Kind.OPERATION
        made = ValueNode(name, kind, len(variables), _signature(op, number), operands, source=source_of(op))
        made.width = width
        return made

    def recurs(self, node: ValueNode) -> bool:
        """Whether the value may depend on earlier ones of the same statement."""
        found = self._recurs.get(node)
        if found is None:
            self._recurs[node] = True  # if it is met again below
            found = self._recurs[node] = any([self.recurs(one) for one in self._before(node)])
        return found

    def _before(self, node: ValueNode) -> tuple[ValueNode, ...]:
        if node.base is not None:
            return (node.base,)
        if node.access is None:
            return node.operands
        label = node.access.buffer.label
        feeds = is_put if sees_element(node.access.op) else is_store
        return tuple(self.node(stored(access.op)) for access in self.accesses[label] if feeds(access.op))

    def part(self, base: ValueNode, width: int) -> ValueNode:
        """Bits of a word: the last dimension of the node is the number of the lowest."""
        label = f"{width} bits of {base.id}"
        chosen = base.operands[1:] if base.signature == _SELECT else ()
        if label not in self._inputs and chosen and all(operand.depth == base.depth for operand in chosen):
            operands = (base.operands[0], *(self.part(operand, width) for operand in chosen))
            self._inputs[label] = ValueNode(
                label, Kind.OPERATION, base.depth + 1, _SELECT, operands, source=base.source
            )
        if label not in self._inputs:
            through = base.kind in (Kind.READ, Kind.CHOICE) or (base.width and base.signature[0] == "allo.set_slice")
            kind = Kind.READ if through else base.kind if base.kind is Kind.UNDEFINED else Kind.PART
            self._inputs[label] = ValueNode(
                label, kind, base.depth + 1, (str(width),), source=base.source, name=base.name, base=base, width=width
            )
        return self._inputs[label]

    def opaque(self, reason: str, of: ValueNode) -> ValueNode:
        """A value that the method cannot tell."""
        return ValueNode(reason, Kind.OPAQUE, of.depth, source=of.source, name=reason)

    def affine(self, value: ir.Value) -> ValueNode | None:
        """A node for integers and indices that are affine; constants of few bits stay operations."""
        kind = value.type
        if not isinstance(kind, ir.IndexType) and not (isinstance(kind, ir.IntegerType) and 32 <= kind.width <= 64):
            return None
        if isinstance(kind, ir.IntegerType) and not kind.is_signless:
            return None
        terms = self.values.index(value)
        form = terms.forms[0]
        if form is None:
            return None
        block = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
        variables = self.loops_around(block)
        used = {v for f in (form, *(q.numerator for q in terms.quotients)) for v, _ in f.terms}
        known = {*variables, *self.relations.parameters, *(q.variable for q in terms.quotients)}
        if not used <= known:
            return None
        return ValueNode(
            "", Kind.INDEX, len(variables), (str(kind),), form=form, terms=terms, variables=variables
        )

    def index_map(self, node: ValueNode, dims: int) -> isl.Map:
        """{ iteration, of `dims` loops -> value } of an affine node."""
        assert node.form is not None and node.terms is not None
        value = -1
        spare = tuple(-2 - k for k in range(dims - node.depth))
        rows = [Row(node.form - variable(value), True), *node.terms.rows()]
        columns = (*node.variables, *spare, value)
        points = isl.Set.from_basic_set(self.relations.system(columns, rows))
        return isl.Map.from_domain(points).move_dims(isl.dim_type.out, 0, isl.dim_type.in_, dims, 1)


def _same_bits(value: ir.Value) -> ir.Value | None:
    """The operand of an operation that keeps all bits: types are those of the operations that use them."""
    if isinstance(value.owner, ir.Block):
        return None
    op = value.owner.operation
    return op.operands[0] if op.name in ("allo.sign_cast", "allo.bitcast", "arith.bitcast") else None


_SELECT = ("arith.select",)


def _signature(op: ir.Operation, number: int) -> tuple[str, ...]:
    """Name, result, types and attributes, without what only names or places an operation."""
    if op.name == "arith.select":
        return _SELECT  # of any bits
    attributes = sorted(
        f"{name}={value}" for name, value in op.attributes.items() if not name.startswith("allo.")
    )
    types = [*(str(operand.type) for operand in op.operands), "->", *(str(result.type) for result in op.results)]
    return (op.name, str(number), *types, *attributes)

