"""Cache of compiled functions, kept while a schedule uses them: parts of a design are compiled on their own too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType, NoneType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, ref

from ...ir.parts import Part
from ...ir.types import AlloType, TensorType
from ..read.source import belongs_to_a_library, free_names
from ..read.templates import parameters_of
from .nodes import CheckedFunction
from .ranges import surely_inside
from .rules import TypingRules

_MISSING = object()
_PLAIN = (bool, int, float, str, NoneType)
_BUILTINS = (abs, bool, divmod, float, int, len, max, min, pow, range, round, sum)


@dataclass(slots=True, eq=False, weakref_slot=True)  # identical for good; only where it is emitted is learnt later
class Known:
    """A function that needs nothing else of its module, and all that it was read from; `inside` is `surely_inside`."""

    function: CheckedFunction
    inside: bool
    code: CodeType
    rules: TypingRules
    annotations: Mapping[str, Any]
    names: Mapping[str, Any]
    _emitted: ref[Part] | None = None

    @property
    def emitted(self) -> Part | None:
        """Its MLIR, as a schedule that lives had it before the first step."""
        return None if self._emitted is None else self._emitted()

    def live_in(self, part: Part, *, as_emitted: bool) -> None:
        """Others find this as long as `part` lives, and its MLIR if `part` is that."""
        part.learn("kernel", self)
        if as_emitted and self.emitted is None:
            self._emitted = ref(part)

    def means(self, kernel: FunctionType, rules: TypingRules) -> bool:
        """Whether `kernel` would be read as this function."""
        if self.code is not kernel.__code__ or self.rules is not rules or hasattr(kernel, "__wrapped__"):
            return False
        values = free_names(kernel)
        names = {name: values.get(name, _MISSING) for name in self.names}
        return _are_same(self.annotations, kernel.__annotations__) and _are_same(self.names, names)


_KNOWN: WeakKeyDictionary[CodeType, WeakSet[Known]] = WeakKeyDictionary()


def known(kernel: object, rules: TypingRules) -> Known | None:
    """The function that `kernel` is, if a schedule that lives has compiled it."""
    if not isinstance(kernel, FunctionType):
        return None
    return next((found for found in _KNOWN.get(kernel.__code__, ()) if found.means(kernel, rules)), None)


def noted(function: CheckedFunction, rules: TypingRules, names: Iterable[str]) -> Known | None:
    """What others need to take over a function, in which `names` were looked up; None if these may change silently."""
    kernel = function.source.function
    if kernel is None or hasattr(kernel, "__wrapped__") or parameters_of(function.source):
        return None
    values = {name: function.source.names.get(name, _MISSING) for name in names}
    annotations = dict(kernel.__annotations__)
    if not all(map(_is_settled, (*values.values(), *annotations.values()))):
        return None
    made = Known(function, surely_inside(function), kernel.__code__, rules, annotations, values)
    if kernel.__code__ not in _KNOWN:
        _KNOWN[kernel.__code__] = WeakSet()
    _KNOWN[kernel.__code__].add(made)
    return made


def _is_settled(value: Any) -> bool:
    """Whether a value means the same as long as it is the same: neither it nor what it refers to can be changed."""
    if value is _MISSING or type(value) in _PLAIN or isinstance(value, AlloType | TensorType):
        return True
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] == "allo"
    if isinstance(value, FunctionType | type) and belongs_to_a_library(value):
        return True
    return any(value is builtin for builtin in _BUILTINS)


def _are_same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    return left.keys() == right.keys() and all(_is_same(value, right[name]) for name, value in left.items())


def _is_same(left: Any, right: Any) -> bool:
    """Whether two values mean the same; 1, 1.0 and True do not, nor do 0.0 and -0.0."""
    return left is right or (type(left) is type(right) and left == right and repr(left) == repr(right))
