"""Parameters of an external kernel, from the declaration of its function in C++."""

from __future__ import annotations

import linecache
from dataclasses import dataclass, replace

from ...errors import KernelError, Location, counted, nearest
from ...frontend.typing.external import ExternalKernel, ExternalParameter
from ...ir.types import DYNAMIC, AlloType, Struct, TensorType
from .compiler import Compiler, preprocessed
from .constants import integer_of
from .cxx_types import CxxType, TypeReader, UnsupportedType
from .declarations import CxxFunction, Declarations, Tokens, declarations_of, split
from .given_types import given_types
from .source import ExternalSource
from .streams import Directions
from .tokens import Token, text_of, tokens_of, without_markers


@dataclass(frozen=True, slots=True)
class Signature:
    """An external kernel with its parameters in C++; `file` defines it, and `texts` is all of its code."""

    kernel: ExternalKernel
    parameters: tuple[CxxType, ...]
    result: CxxType
    called: str
    file: str
    texts: tuple[str, ...]


def signature_of(compiler: Compiler, source: ExternalSource) -> Signature:
    """Find and read the declaration of the entry function.

    Raises ToolError if a file does not pass the preprocessor, KernelError if the function is not found or has a
    parameter that kernels cannot give it.
    """
    texts = [preprocessed(compiler, source, file) for file in source.implementations]
    wanted, instance = _top(source.top)
    names: list[str] = []
    for file, text in zip(source.implementations, texts, strict=True):
        declarations = declarations_of(tokens_of(text))
        candidates = [f for f in declarations.functions if f.name == wanted and f.defined]
        names += [f.name for f in declarations.functions if f.defined]
        if candidates:
            function = _chosen(source, candidates, instance)
            code = tuple(without_markers(text) for text in texts)
            return _read(source, declarations, function, instance, file, code)
    hint = nearest(wanted, names) or (f"they define {', '.join(dict.fromkeys(names[:8]))}" if names else None)
    raise KernelError(f"no function '{wanted}' is defined in {', '.join(source.implementations)}", hint=hint)


def _top(top: str) -> tuple[str, tuple[Tokens, ...]]:
    """The name of the entry function, and the template arguments that the user gave with it."""
    tokens = tuple(tokens_of(top))
    words = [token.text for token in tokens]
    if "<" not in words:
        return "".join(words), ()
    position = words.index("<")
    return "".join(words[:position]), split(tokens[position + 1 : -1], ",")


def _chosen(
    source: ExternalSource, candidates: list[CxxFunction], instance: tuple[Tokens, ...]
) -> CxxFunction:
    """The one function that is meant: a template if there are arguments for it, else the only other one."""
    name = candidates[0].name
    if instance:
        templates = [f for f in candidates if f.template is not None]
        if len(templates) == 1:
            return templates[0]
        raise KernelError(
            f"'{name}' is not one template, but '{source.top}' gives it arguments", at=_at(candidates[0])
        )
    concrete = [f for f in candidates if f.template is None]
    if len(concrete) == 1:
        return concrete[0]
    if concrete:
        raise KernelError(
            f"there are {len(concrete)} functions '{name}', on lines {', '.join(str(f.at.line) for f in concrete)}",
            at=_at(concrete[0]),
            hint="write a function of another name that calls the one you mean",
        )
    parameters = ", ".join(parameter for parameter, _ in candidates[0].template or ())
    raise KernelError(
        f"'{name}' is a template: its parameters {parameters} have no values",
        at=_at(candidates[0]),
        hint=f'name an instance: top="{name}<{parameters}>" with values for {parameters}',
    )


def _at(function: CxxFunction) -> Location:
    return _place(function.at)


def _place(token: Token) -> Location:
    linecache.checkcache(token.file)  # an excerpt of what the file holds now
    return Location(token.file, token.line)


def _read(
    source: ExternalSource,
    declarations: Declarations,
    function: CxxFunction,
    instance: tuple[Tokens, ...],
    file: str,
    texts: tuple[str, ...],
) -> Signature:
    reader = _reader(declarations, function, instance)
    directions, wanted = Directions(declarations), source.directions
    parameters: list[CxxType] = []
    interface: list[ExternalParameter] = []
    for position, tokens in enumerate(function.parameters):
        if [token.text for token in tokens] == ["void"]:
            continue
        try:
            read = reader.read(tokens)
            _check_parameter(read)
            side = directions.of(function, position, wanted.pop(read.name, None)) if read.stream else ""
        except UnsupportedType as error:
            message = f"parameter {position + 1} of '{function.name}', `{text_of(tokens)}`, cannot be passed: {error}"
            raise KernelError(message, at=_place(tokens[0] if tokens else function.at), hint=error.hint) from None
        parameters.append(replace(read, name=read.name or f"arg{position}"))
        interface.append(_interface(parameters[-1], side))
    if wanted:
        raise KernelError(
            f"'{function.name}' has no stream '{next(iter(wanted))}'",
            at=_at(function),
            hint=f"its parameters are {', '.join(str(p) for p in interface) or 'none'}",
        )
    result = _result(reader, function)
    kernel = ExternalKernel(
        function.name.split("::")[-1],
        _with_given(source, function, tuple(interface)) if source.signature else tuple(interface),
        result.element,
        function.at.file,
        function.at.line,
        source.facts(),
    )
    arguments = instance or function.instance
    called = function.name + (f"<{', '.join(map(text_of, arguments))}>" if arguments else "")
    return Signature(kernel, tuple(parameters), result, called, file, texts)


def _reader(declarations: Declarations, function: CxxFunction, instance: tuple[Tokens, ...]) -> TypeReader:
    """Reads types of `function`, whose template parameters stand for `instance`."""
    parameters = function.template or ()
    if instance and len(instance) != len(parameters):
        raise KernelError(
            f"template '{function.name}' has {counted(len(parameters), 'parameter')}, got {len(instance)}",
            at=_at(function),
        )
    types: dict[str, Tokens] = {}
    values: dict[str, int] = {}
    for (name, is_type), tokens in zip(parameters, instance, strict=False):
        if is_type:
            types[name] = (*tokens, replace(tokens[0], text=name))
            continue
        try:
            values[name] = integer_of(tokens, declarations.constants, {})
        except ValueError as error:
            raise KernelError(
                f"the argument `{error}` of template '{function.name}' is not an integer constant",
                at=_at(function),
            ) from None
    return TypeReader(declarations, types, values)


def _check_parameter(read: CxxType) -> None:
    """Raises UnsupportedType for a type that is known, but cannot be passed."""
    if read.stream and (read.extents or read.pointer):
        raise UnsupportedType("arrays of streams are not passed to external kernels", "pass each one by reference")
    if read.stream and not read.reference:
        raise UnsupportedType("a stream is passed by reference", f"write `{read.stream} &`")
    if read.element is None or isinstance(read.element, Struct):
        raise UnsupportedType("the type of its elements is not known")


def _result(reader: TypeReader, function: CxxFunction) -> CxxType:
    try:
        result = reader.read(function.result)
    except UnsupportedType as error:
        raise KernelError(
            f"the result of '{function.name}' cannot be passed: {error}", at=_at(function)
        ) from None
    if result.pointer or result.reference or result.extents or result.stream:
        raise KernelError(
            f"'{function.name}' returns `{text_of(function.result)}`, and external kernels return numbers only",
            at=_at(function),
            hint="take an array to write the results to",
        )
    return result


def _interface(read: CxxType, side: str) -> ExternalParameter:
    """What a kernel passes for a parameter: a reference that is written is an array of one element."""
    assert read.element is not None
    if side:
        return ExternalParameter(read.name, read.element, None, side == "out", side)
    shape: tuple[int, ...] | None
    if read.extents and not (len(read.extents) == 1 and read.extents[0] is None):
        shape = tuple(DYNAMIC if extent is None else extent for extent in read.extents)
    elif read.pointer or read.extents:
        shape = None
    else:
        shape = (1,) if read.reference and not read.const else ()
    return ExternalParameter(read.name, read.element, shape, shape != () and not read.const)


def _with_given(
    source: ExternalSource, function: CxxFunction, interface: tuple[ExternalParameter, ...]
) -> tuple[ExternalParameter, ...]:
    """The parameters with the shapes that the user gave; KernelError if they contradict the C++."""
    given = given_types(source.signature)
    if len(given) != len(interface):
        raise KernelError(
            f"signature has {counted(len(given), 'type')}, but '{function.name}' takes "
            f"{counted(len(interface), 'argument')}",
            at=_at(function),
        )
    return tuple(_agreed(function, p, t) for p, t in zip(interface, given, strict=True))


def _agreed(
    function: CxxFunction, parameter: ExternalParameter, given: AlloType | TensorType
) -> ExternalParameter:
    element, shape = (given.element, given.shape) if isinstance(given, TensorType) else (given, ())
    known = parameter.shape
    fits = element == parameter.element and (known != ()) == (shape != ())
    if fits and known is not None:
        same_rank = len(known) == len(shape)
        fits = same_rank and all(want in (DYNAMIC, have) for have, want in zip(shape, known, strict=True))
    if fits:
        return replace(parameter, shape=shape)
    has = f"{parameter.element!r} array of any shape"
    if known is not None:
        has = f"{TensorType(parameter.element, known)!r}" if known else f"{parameter.element!r}"
    raise KernelError(
        f"signature gives {given!r} for '{parameter.name}' of '{function.name}', which is {has} in C++",
        at=_at(function),
    )
