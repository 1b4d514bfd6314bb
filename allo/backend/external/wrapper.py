"""Entry of an external kernel for machine code: a C function that takes addresses only.

Scalars and results go through memory too, so that the types of all widths lie where kernels have them and no calling
convention has to agree. It is plain C called through ctypes rather than a module of pybind11: machine code of kernels
has to call the same function, the check of arguments is that of built kernels, and the library depends neither on
the version of Python nor on headers that a user may not have. A C++ exception ends in a message that
`Library.raise_failure` turns into an exception of Python; none passes through frames that know nothing of it.
"""

from __future__ import annotations

import math

from ...errors import InternalError
from ...ir.types import AlloType, Float, Int, TensorType, UInt
from ...ir.words import container_bits, is_signed
from .cxx_types import CxxType
from .signature import Signature
from .stream_wrapper import FIFOS, STREAM_HANDLERS, STREAM_PRELUDE, FifoType, fifo_functions, streamed

ENTRY_PLACE = "allo_external_entry"  # becomes a name that no other library has
FAILURE = "_failure"
_PRELUDE = """\
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <type_traits>
#include <vector>

namespace allo_external {
enum State { fine, failing, failed };
std::atomic<int> state{fine};
char message[1024];

void fail(const char *what) {
  int expected = fine;
  if (!state.compare_exchange_strong(expected, failing))
    return; // the first message stays
  std::strncpy(message, what, sizeof(message) - 1);
  state = failed;
}

// Elements of W bits in memory of B bytes, sign-extended.
template <int W, int B, bool Signed, typename T> void read(T &x, const unsigned char *memory) {
  for (int low = 0; low < W; low += 64) {
    std::uint64_t word = 0;
    std::memcpy(&word, memory + low / 8, B - low / 8 < 8 ? B - low / 8 : 8);
    int high = low + 63 < W - 1 ? low + 63 : W - 1;
    if (high - low < 63)
      word &= (std::uint64_t(1) << (high - low + 1)) - 1;
    x.range(high, low) = word;
  }
}

template <int W, int B, bool Signed, typename T> void write(T &x, unsigned char *memory) {
  bool negative = false;
  for (int low = 0; low < W; low += 64) {
    int high = low + 63 < W - 1 ? low + 63 : W - 1;
    std::uint64_t word = x.range(high, low).to_uint64();
    negative = Signed && ((word >> (high - low)) & 1);
    if (negative && high - low < 63)
      word |= ~((std::uint64_t(1) << (high - low + 1)) - 1);
    std::memcpy(memory + low / 8, &word, B - low / 8 < 8 ? B - low / 8 : 8);
  }
  for (int byte = (W + 63) / 64 * 8; byte < B; ++byte)
    memory[byte] = negative ? 0xff : 0;
}
} // namespace allo_external

"""


def wrapper_text(
    signature: Signature, types: tuple[AlloType | TensorType | FifoType, ...]
) -> tuple[str, str]:
    """The line that includes the kernel, and all that follows it; `types` are those of the arguments."""
    before: list[str] = []
    after: list[str] = []
    arguments = []
    parameters = zip(signature.parameters, signature.kernel.parameters, types, strict=True)
    for position, (parameter, interface, given) in enumerate(parameters):
        if interface.stream:
            arguments.append(streamed(parameter, interface, given, f"a{position}", before, after))
        elif isinstance(given, FifoType):
            raise InternalError(f"a FIFO is passed for '{parameter.name}' of '{signature.kernel.name}'")
        elif not parameter.is_vendor:
            arguments.append(_direct(parameter, f"a{position}"))
        else:
            arguments.append(_copied(parameter, interface.written, given, f"a{position}", before, after))
    call = f"{signature.called}({', '.join(arguments)})"
    result = signature.result.element
    if result is not None:
        call = f"{signature.result.spelling} result = {call}"
        after.append(_give_back(signature.result, result))
    names = [f"void *a{position}" for position in range(len(types))] + (
        ["void *r"] if result is not None else []
    )
    lines = [*_assertions(signature), *_failure()]
    lines += fifo_functions(f"{ENTRY_PLACE}{FIFOS}") if any(isinstance(t, FifoType) for t in types) else []
    lines += ["", 'extern "C" __attribute__((visibility("default")))']
    lines += [f"void {ENTRY_PLACE}({', '.join(names)}) {{", "  try {"]
    lines += [f"    {line}" for line in (*before, f"{call};", *after)]
    lines += STREAM_HANDLERS if any(p.stream for p in signature.parameters) else []
    lines += ["  } catch (const std::exception &error) {", "    allo_external::fail(error.what());"]
    lines += [
        "  } catch (...) {",
        '    allo_external::fail("an exception that is no std::exception");',
        "  }",
        "}",
    ]
    prelude = _PRELUDE + (STREAM_PRELUDE if any(p.stream for p in signature.parameters) else "")
    return f'#include "{signature.file}"\n', prelude + "\n".join(lines) + "\n"


def _failure() -> list[str]:
    """The function that gives and forgets the message of the first exception since it was last called."""
    return [
        'extern "C" __attribute__((visibility("default")))',
        f"bool {ENTRY_PLACE}{FAILURE}(char *text, std::size_t size) {{",
        "  if (allo_external::state != allo_external::failed)",
        "    return false;",
        "  std::strncpy(text, allo_external::message, size);",
        "  allo_external::state = allo_external::fine;",
        "  return true;",
        "}",
    ]


def _assertions(signature: Signature) -> list[str]:
    """What we take for granted of the types of this compiler."""
    lines = []
    used = [(p.spelling, p.element) for p in (*signature.parameters, signature.result)]
    for spelling, element in dict.fromkeys(used):
        if element is None or "<" in spelling:
            continue
        same = f"sizeof({spelling}) == {container_bits(element) // 8}"
        if isinstance(element, Int | UInt):
            same += f" && std::is_signed<{spelling}>::value == {str(isinstance(element, Int)).lower()}"
        elif isinstance(element, Float) and spelling != "half":
            same += f" && !std::is_integral<{spelling}>::value"
        lines.append(f'static_assert({same}, "{spelling} is not {element!r} for this compiler");')
    return lines


def _inner(parameter: CxxType) -> str:
    """The extents behind the first, in C++."""
    return "".join(f"[{extent}]" for extent in parameter.extents[1:])


def _constant(parameter: CxxType) -> str:
    return "const " if parameter.const else ""


def _direct(parameter: CxxType, address: str) -> str:
    """The argument that lies at `address` as C++ has it."""
    element = f"{_constant(parameter)}{parameter.spelling}"
    if parameter.extents and parameter.reference:
        extents = "".join(f"[{extent}]" for extent in parameter.extents)
        return f"*static_cast<{element} (*){extents}>({address})"
    if len(parameter.extents) > 1:
        return f"static_cast<{element} (*){_inner(parameter)}>({address})"
    if parameter.extents or parameter.pointer:
        return f"static_cast<{element} *>({address})"
    return f"*static_cast<{element} *>({address})"


def _copied(
    parameter: CxxType,
    written: bool,
    given: AlloType | TensorType,
    address: str,
    before: list[str],
    after: list[str],
) -> str:
    """The argument as a copy of elements whose type in C++ may lie in memory in another way."""
    element = given.element if isinstance(given, TensorType) else given
    count = math.prod(given.shape) if isinstance(given, TensorType) else 1
    kind = f"{element.bits}, {container_bits(element) // 8}, {str(is_signed(element)).lower()}"
    place = f"static_cast<unsigned char *>({address}) + k * {container_bits(element) // 8}"
    copy = f"v{address}"
    loop = f"for (std::size_t k = 0; k < {count}; ++k)"
    before.append(f"std::vector<{parameter.spelling}> {copy}({count});")
    before.append(f"{loop} allo_external::read<{kind}>({copy}[k], {place});")
    if written:
        after.append(f"{loop} allo_external::write<{kind}>({copy}[k], {place});")
    if parameter.extents and parameter.reference:
        extents = "".join(f"[{extent}]" for extent in parameter.extents)
        return f"*reinterpret_cast<{parameter.spelling} (*){extents}>({copy}.data())"
    if len(parameter.extents) > 1:
        return f"reinterpret_cast<{parameter.spelling} (*){_inner(parameter)}>({copy}.data())"
    return f"{copy}.data()" if parameter.extents or parameter.pointer else f"{copy}[0]"


def _give_back(result: CxxType, element: AlloType) -> str:
    """The statement that stores the result."""
    if not result.is_vendor:
        return f"*static_cast<{result.spelling} *>(r) = result;"
    kind = f"{element.bits}, {container_bits(element) // 8}, {str(is_signed(element)).lower()}"
    return f"allo_external::write<{kind}>(result, static_cast<unsigned char *>(r));"
