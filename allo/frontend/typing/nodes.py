"""The typed syntax tree: what a kernel means once every name and type is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...ir.memory import Memory
from ...ir.types import AlloType, ChannelType, TensorType
from ..read.source import Position

if TYPE_CHECKING:
    from ...ir.argument_parts import DeclaredPart
    from ..read.source import KernelSource
    from .external import ExternalKernel


class SymbolKind(Enum):
    """What a name of a kernel stands for."""

    LOOP = auto()  # loop variable
    SCALAR = auto()  # local scalar variable
    ARGUMENT = auto()  # scalar argument
    TENSOR = auto()  # array: argument, local, or constant
    STREAM = auto()  # FIFO, or array of FIFOs
    STATIC = auto()  # Python value known when the kernel is compiled, in `constant`
    INVALID = auto()  # declared by a statement that had an error; uses are not reported again


@dataclass(eq=False, slots=True)
class Symbol:
    """A name of a kernel; `assigned` tells an argument that the body changes."""

    name: str
    kind: SymbolKind
    type: AlloType | TensorType | None  # None of a stream
    at: Position
    assigned: bool = False
    constant: Any = None  # the NumPy array of a constant tensor, or the value of a STATIC name
    state: Any = None  # the NumPy array that a Stateful variable starts with
    stream: ChannelType | None = None  # what a STREAM carries
    memory: Memory | None = None  # where the declaration keeps an array
    extents: tuple[Symbol | None, ...] = ()  # of an argument: variables for the extents known at run time only
    part: DeclaredPart | None = None  # of an argument: what a task has of it


@dataclass(frozen=True, slots=True)
class Expr:
    """Base of expressions; `type` is the scalar type of the value."""

    type: AlloType
    at: Position


@dataclass(frozen=True, slots=True)
class Const(Expr):
    value: int | float | bool | Fraction  # a fraction for fixed point
    literal: bool = False  # whether `type` is only the least that holds the value, and the context may choose another


@dataclass(frozen=True, slots=True)
class Var(Expr):
    symbol: Symbol


@dataclass(frozen=True, slots=True)
class Load(Expr):
    tensor: Symbol
    indices: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class StreamGet(Expr):
    """The oldest element of a FIFO, taken out of it unless it `stays`; `indices` say which of an array of FIFOs."""

    stream: Symbol
    indices: tuple[Expr, ...]
    stays: bool = False


@dataclass(frozen=True, slots=True)
class StreamTryGet(Expr):
    """Whether a FIFO had an element, which then is taken out of it into a variable; else the variable becomes 0."""

    stream: Symbol
    indices: tuple[Expr, ...]
    into: Symbol


@dataclass(frozen=True, slots=True)
class StreamTryPut(Expr):
    """Whether a FIFO had room, so that `value` is its youngest element now."""

    stream: Symbol
    indices: tuple[Expr, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class StreamAsked(Expr):
    """Whether a FIFO has nothing to get, or no room to put: `question` is "empty" or "full"."""

    stream: Symbol
    indices: tuple[Expr, ...]
    question: str


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """`op` is one of + - * / // % rem << >> & | ^ min max; operands already have the type computed in.

    `%` has the sign of the right operand, as in Python, and `rem` that of the left one, as `%` of C.
    """

    op: str
    lhs: Expr
    rhs: Expr


@dataclass(frozen=True, slots=True)
class Compare(Expr):
    op: str
    lhs: Expr
    rhs: Expr


@dataclass(frozen=True, slots=True)
class Logic(Expr):
    """`and` / `or` of two truth values; the right one is evaluated only if it is needed."""

    op: str
    lhs: Expr
    rhs: Expr


@dataclass(frozen=True, slots=True)
class Not(Expr):
    operand: Expr


@dataclass(frozen=True, slots=True)
class Select(Expr):
    condition: Expr
    if_true: Expr
    if_false: Expr


@dataclass(frozen=True, slots=True)
class Cast(Expr):
    """A conversion; `exact` if the typing rules promise that no value is lost."""

    operand: Expr
    exact: bool = False


@dataclass(frozen=True, slots=True)
class MathCall(Expr):
    """An elementary function of floats, by the name of its operation in the `math` dialect."""

    function: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class BitOp(Expr):
    """An operation of the `allo` dialect on the bits of `operand`, at `positions`, perhaps with a new `value`."""

    op: str
    operand: Expr
    positions: tuple[Expr, ...] = ()
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Field(Expr):
    """The field `name` of a struct."""

    operand: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Construct(Expr):
    """A struct of the values of all its fields, in their order."""

    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class SetField(Expr):
    """The struct `operand` in which the field that the names of `path` lead to is `value`."""

    operand: Expr
    path: tuple[str, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Shared(Expr):
    """A value that stands in two places of an expression and is computed once."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class KernelCall(Expr):
    """A call of a kernel with one scalar result, as an expression."""

    call: CallSite


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call of another kernel: tensors by symbol, scalars by value."""

    callee: CheckedFunction
    arguments: tuple[Symbol | Expr, ...]


@dataclass(frozen=True, slots=True)
class CombinedValue:
    """`result` is what a collective along `axis` gives for values such as `sample`; the same to all if it `agrees`."""

    result: Symbol
    sample: Expr
    axis: int
    agrees: bool


@dataclass(frozen=True, slots=True)
class Stmt:
    at: Position


@dataclass(frozen=True, slots=True)
class Declare(Stmt):
    """A local variable; `init`: scalar value, array to copy from, call whose result it is, or nothing."""

    symbol: Symbol
    init: Expr | Symbol | None


@dataclass(frozen=True, slots=True)
class AssignScalar(Stmt):
    symbol: Symbol
    value: Expr


@dataclass(frozen=True, slots=True)
class Store(Stmt):
    tensor: Symbol
    indices: tuple[Expr, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class StreamPut(Stmt):
    """`value` becomes the youngest element of a FIFO."""

    stream: Symbol
    indices: tuple[Expr, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Fill(Stmt):
    """Every element of `tensor` becomes `value`."""

    tensor: Symbol
    value: Expr


@dataclass(frozen=True, slots=True)
class Copy(Stmt):
    """Every element of `tensor` becomes that of `source`, converted to its type."""

    tensor: Symbol
    source: Symbol


@dataclass(frozen=True, slots=True)
class Block(Stmt):
    """Several statements in place of one."""

    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Element:
    """The element of `tensor` that an iteration of a `Structured` uses, which its value calls `symbol`.

    Each subscript is a constant plus factors times loops, given by their positions.
    """

    tensor: Symbol
    subscripts: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
    symbol: Symbol


@dataclass(frozen=True, slots=True)
class Structured(Stmt):
    """`output = value` in all iterations, as one operation on whole arrays; the last `reductions` loops accumulate.

    `operation` is the named operation of `linalg` that means this where the types allow it; `scalars` are computed
    once, in front of it. `options` are integers of the named operation, such as strides.
    """

    nest: str
    operation: str
    loops: tuple[Symbol, ...]
    extents: tuple[int, ...]
    reductions: int
    inputs: tuple[Element, ...]
    output: Element
    scalars: tuple[tuple[Symbol, Expr], ...]
    value: Expr
    options: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Call(Stmt):
    """A call; its results go to `targets`, each a variable declared here or before."""

    call: CallSite
    targets: tuple[Symbol, ...]
    declares: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class For(Stmt):
    """One loop of `range(lower, upper, step)`; `nest` is set on the first loop of a named nest.

    `marks` are attributes that the loop starts with: `("allo.pipeline", 1)`.
    """

    symbol: Symbol
    lower: Expr
    upper: Expr
    step: Expr
    nest: str | None
    body: tuple[Stmt, ...]
    marks: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class TaskGrid(Stmt):
    """A task of a region at each position of a grid, which `positions` go through; none of a grid of one place."""

    name: str
    positions: tuple[Symbol, ...]
    extents: tuple[int, ...]
    call: CallSite


@dataclass(frozen=True, slots=True)
class While(Stmt):
    """`first` is done before the condition is looked at, each time."""

    first: tuple[Stmt, ...]
    condition: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class If(Stmt):
    condition: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Return(Stmt):
    values: tuple[Expr | Symbol, ...]


@dataclass(frozen=True, slots=True)
class CallEffects:
    """What a call changes: the arrays given to `written` parameters, perhaps the `state` of a kernel."""

    written: frozenset[Symbol]
    state: bool


@dataclass(eq=False, slots=True)
class CheckedFunction:
    """A checked kernel."""

    name: str
    source: KernelSource
    params: tuple[Symbol, ...]
    results: tuple[AlloType | TensorType, ...]
    body: tuple[Stmt, ...] = field(default=())
    effects: CallEffects | None = None  # once `writes.effects_of` was asked
    external: ExternalKernel | None = None  # of a function without a body, which is not written in Python
    is_region: bool = False  # its statements run at the same time
    links: tuple[Symbol, ...] = ()  # of a task: the streams between its positions, which its region makes
