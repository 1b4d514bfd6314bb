"""Elements on their way between an `hls::stream` of an external kernel and an array or a FIFO of the CPU.

An external kernel works on a stream object of its own. If that is one of our header, it is connected with the FIFO, and
the kernel is a process like others. Else what is in a FIFO moves into it before the call, and what is left moves back
behind it; so the kernel needs nothing of ours but a header with `hls::stream`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...frontend.typing.external import ExternalParameter
from ...ir.types import AlloType, TensorType
from ...ir.words import container_bits, is_signed
from .cxx_types import CxxType

FIFOS = "_fifos"  # the function that is told what puts into FIFOs and gets from them
STREAM_MARK = "\x01"  # begins the message of a failure of a stream


@dataclass(frozen=True, slots=True)
class FifoType:
    """A FIFO in the place of a parameter."""

    element: AlloType
    depth: int


STREAM_PRELUDE = """\
namespace allo_external {
class stream_failure : public std::exception {
  char text[256];

public:
  stream_failure(const char *what, long long count) { std::snprintf(text, sizeof(text), what, count); }
  const char *what() const noexcept override { return text; }
};

void fail_stream(const char *what) {
  char marked[sizeof(message)] = "\\1";
  std::strncpy(marked + 1, what, sizeof(marked) - 2);
  fail(marked);
}

template <typename T> void read_direct(T &x, const unsigned char *memory) { std::memcpy(&x, memory, sizeof(T)); }
template <typename T> void write_direct(const T &x, unsigned char *memory) { std::memcpy(memory, &x, sizeof(T)); }

template <typename S> void expect_empty(S &stream, const char *what, long long left) {
  const long long before = left;
  for (; !stream.empty(); ++left)
    stream.read();
  if (left != before)
    throw stream_failure(what, left);
}
} // namespace allo_external

"""
STREAM_HANDLERS = [
    "  } catch (const allo_external::stream_failure &error) {",
    "    allo_external::fail_stream(error.what());",
    "#ifdef ALLO_SIM_HLS_STREAM_H",
    "  } catch (const hls::stream_error &error) {",
    "    allo_external::fail_stream(error.what());",
    "#endif",
]


def fifo_functions(name: str) -> list[str]:
    """What the FIFOs of the run-time library are to a wrapper, and the function `name` that gets their addresses."""
    return [
        "namespace allo_external {",
        "void (*fifo_put)(std::int64_t, std::int64_t, std::int64_t);",
        "void (*fifo_get)(std::int64_t, std::int64_t, std::int64_t);",
        "std::int64_t (*fifo_empty)(std::int64_t);",
        "} // namespace allo_external",
        'extern "C" __attribute__((visibility("default")))',
        f"void {name}(void *put, void *get, void *empty) {{",
        "  allo_external::fifo_put = reinterpret_cast<decltype(allo_external::fifo_put)>(put);",
        "  allo_external::fifo_get = reinterpret_cast<decltype(allo_external::fifo_get)>(get);",
        "  allo_external::fifo_empty = reinterpret_cast<std::int64_t (*)(std::int64_t)>(empty);",
        "}",
    ]


def streamed(
    parameter: CxxType,
    interface: ExternalParameter,
    given: AlloType | TensorType | FifoType,
    address: str,
    before: list[str],
    after: list[str],
) -> str:
    """The stream to pass; what fills it goes to `before`, what empties it to `after`."""
    stream = f"s{address}"
    before.append(f'{parameter.stream} {stream}("{parameter.name}");')
    if isinstance(given, FifoType):
        _with_fifo(parameter, interface, given, address, before, after)
    else:
        _with_array(parameter, interface, given, address, before, after)
    return stream


def _with_fifo(
    parameter: CxxType,
    interface: ExternalParameter,
    given: FifoType,
    address: str,
    before: list[str],
    after: list[str],
) -> None:
    """`address` is the handle of a FIFO: with our `hls::stream` each element goes there or comes from there at once."""
    size = container_bits(given.element) // 8
    read, write = _functions(parameter, given.element)
    handle = f"h{address}"
    memory = f"alignas(16) unsigned char word[{size}];"
    word = f"{memory} {parameter.spelling} x;"
    place = "reinterpret_cast<std::int64_t>(word)"
    before.append(
        f"const std::int64_t {handle} = reinterpret_cast<std::int64_t>({address}); // depth {given.depth}"
    )
    stream, get = f"s{address}", f"allo_external::fifo_get({handle}, {place}, 0); {read}(x, word);"
    before.append("#ifdef ALLO_SIM_HLS_STREAM_H")
    if interface.stream == "in":
        before += [
            f"{stream}.connect_source([=]({parameter.spelling} &x) {{ {memory} "
            f"{get} }}, [=] {{ return allo_external::fifo_empty({handle}) != 0; }});",
            "#else",
            f"while (!allo_external::fifo_empty({handle})) {{ {word} {get} {stream}.write(x); }}",
        ]
    else:
        before.append(
            f"{stream}.connect_sink([=](const {parameter.spelling} &x) {{ {memory} "
            f"{write}(x, word); allo_external::fifo_put({handle}, {place}, 0); }});"
        )
    before.append("#endif")
    after += [
        "#ifndef ALLO_SIM_HLS_STREAM_H",
        f"while (!s{address}.empty()) {{ {word} x = s{address}.read(); {write}(x, word); "
        f"allo_external::fifo_put({handle}, {place}, 0); }}",
        "#endif",
    ]


def _with_array(
    parameter: CxxType,
    interface: ExternalParameter,
    given: AlloType | TensorType,
    address: str,
    before: list[str],
    after: list[str],
) -> None:
    """`address` is that of an array, whose elements go into the stream or come out of it, all of them."""
    element = given.element if isinstance(given, TensorType) else given
    count = math.prod(given.shape) if isinstance(given, TensorType) else 1
    read, write = _functions(parameter, element)
    place = f"static_cast<unsigned char *>({address}) + k * {container_bits(element) // 8}"
    loop = f"for (std::size_t k = 0; k < {count}; ++k)"
    name, stream = parameter.name, f"s{address}"
    if interface.stream == "in":
        before.append(f"{loop} {{ {parameter.spelling} x; {read}(x, {place}); {stream}.write(x); }}")
        left = f"it does not get all elements of stream '{name}': %lld of {count} are left"
        after.append(f'allo_external::expect_empty({stream}, "{left}", 0);')
    else:
        wrong = f"it puts %lld elements into stream '{name}', and its array has {count}"
        after.append(
            f'{loop} {{ if ({stream}.empty()) throw allo_external::stream_failure("{wrong}", k); '
            f"{parameter.spelling} x = {stream}.read(); {write}(x, {place}); }}"
        )
        after.append(f'allo_external::expect_empty({stream}, "{wrong}", {count});')


def _functions(parameter: CxxType, element: AlloType) -> tuple[str, str]:
    """What moves one element from memory into C++ and back."""
    if not parameter.is_vendor:
        return "allo_external::read_direct", "allo_external::write_direct"
    kind = f"{element.bits}, {container_bits(element) // 8}, {str(is_signed(element)).lower()}"
    return f"allo_external::read<{kind}>", f"allo_external::write<{kind}>"
