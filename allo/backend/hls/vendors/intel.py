"""C++ for the Intel HLS compiler: a component, attributes of memories, Algorithmic C data types."""

from __future__ import annotations

from dataclasses import dataclass

from ....errors import TargetError
from ..text.dialect import AcWords, Dialect, ac_names
from ..text.vendor import Array, Banks, BoundMemory, Place, Streams, Vendor

_IMPLEMENTATIONS = {"bram": "BLOCK_RAM", "lutram": "MLAB"}


@dataclass(frozen=True, slots=True)
class Attributes:
    """Attributes in front of a declaration. Banks are bits of the address, so that extents are powers of two."""

    def attributes(self, array: Array, banks: Banks, memory: BoundMemory | None) -> str:
        kinds = [kind for kind, _ in banks]
        if kinds and all(kind == "complete" for kind in kinds):
            return "hls_register "
        text = self._banks(array, banks) if any(kind != "none" for kind in kinds) else ""
        if memory is not None:
            text = f"{self._implementation(array, memory)}{text}"
        return f"hls_memory {text}" if text else ""

    def partition(self, array: Array, banks: Banks) -> list[str]:
        if array.is_argument and any(kind != "none" for kind, _ in banks):
            raise TargetError(
                f"Intel HLS cannot partition '{array.name}': an argument is memory outside of the component",
                at=array.at, hint="copy it to an array of the kernel, and partition that one",
            )  # fmt: skip
        return []

    def storage(self, array: Array, memory: BoundMemory) -> list[str]:
        if array.is_argument:
            raise TargetError(
                f"Intel HLS cannot bind '{array.name}': an argument is memory outside of the component",
                at=array.at, hint="copy it to an array of the kernel, and bind that one",
            )  # fmt: skip
        return []

    def _banks(self, array: Array, banks: Banks) -> str:
        """The bits of the address of an element that choose its bank."""
        chosen: list[int] = []
        low = 0
        for extent, (kind, factor) in reversed(list(zip(array.shape, banks, strict=True))):
            bits = (extent - 1).bit_length()
            count = ((factor if kind in ("cyclic", "block") else extent) - 1).bit_length()
            if extent != 1 << bits or (factor and factor & (factor - 1)):
                raise TargetError(
                    f"Intel HLS cannot split '{array.name}' like this: banks are bits of the address, and "
                    f"{array.shape} or the factor is no power of two",
                    at=array.at, hint="choose extents and factors that are powers of two, or partition completely",
                )  # fmt: skip
            if kind == "block":
                chosen += range(low + bits - count, low + bits)
            elif kind != "none":
                chosen += range(low, low + count)
            low += bits
        width = 1 << max(array.bits - 1, 7).bit_length()
        listed = ", ".join(str(bit) for bit in reversed(chosen))
        return f"hls_bankwidth({width // 8}) hls_bankbits({listed}) "

    def _implementation(self, array: Array, memory: BoundMemory) -> str:
        numbers = [f"{k}={v}" for k, v in (("latency", memory.latency), ("depth", memory.depth)) if v is not None]
        if numbers or memory.resource not in ("auto", *_IMPLEMENTATIONS):
            what = numbers[0] if numbers else memory.resource.upper()
            raise TargetError(
                f"Intel HLS cannot bind '{array.name}' with {what}", at=array.at, hint="bind it to BRAM or LUTRAM"
            )
        text = "hls_singlepump " if memory.kind == "ram_1p" else ""
        made = _IMPLEMENTATIONS.get(memory.resource)
        return f'{text}hls_memory_impl("{made}") ' if made else text


INTEL = Vendor(
    name="Intel HLS",
    pipeline="#pragma ii {interval}",
    rewind=None,
    unroll="#pragma unroll",
    unroll_by="#pragma unroll {factor}",
    dataflow=None,
    inline_off="",
    allocation="",
    arrays=Attributes(),
    streams=Streams(
        source="ihls::stream_in<{element}> {reference}",
        sink="ihls::stream_out<{element}> {reference}",
        made=None,
        pragma="",
        empty=None,
        full=None,
        try_put="{name}.tryWrite({value})",
        try_get="{into} = {name}.tryRead({done});",
    ),
    place=Place.BEHIND_LABEL,
    words=AcWords(),
    dialect=Dialect(
        integers="HLS/ac_int.h",
        fixed="HLS/ac_fixed.h",
        half="",
        mathematics="HLS/math.h",
        streams="",
        folder="ac",
        always=("HLS/hls.h",),
        respell=ac_names("#pragma unroll"),
    ),
    top_prefix="component ",
    hints={
        "dataflow": "a component runs its loops one after the other; leave out dataflow and relay",
        "'empty' of a stream": "try: `x, ok = s.try_get()`",
        "'full' of a stream": "try: `s.try_put(x)`",
        "'peek' of a stream": "get the element, and keep it in a variable",
        "streams inside of a kernel": "a component has streams as arguments only; leave out relay",
        "pipeline(..., rewind=True)": "leave out rewind: invocations of a component are pipelined anyway",
    },
)
