"""C++ for the front end of Google's XLS: one function of integers, whose loops are pipelines or are unrolled."""

from __future__ import annotations

from dataclasses import dataclass

from ....errors import TargetError
from ..text.dialect import AcWords, Dialect, ac_names
from ..text.vendor import Array, Banks, BoundMemory, Place, Streams, Vendor


@dataclass(frozen=True, slots=True)
class ArraysAsValues:
    """Arrays are values: all elements can be accessed at once, so that a partition has nothing to say."""

    def attributes(self, array: Array, banks: Banks, memory: BoundMemory | None) -> str:
        return ""

    def partition(self, array: Array, banks: Banks) -> list[str]:
        return []

    def storage(self, array: Array, memory: BoundMemory) -> list[str]:
        raise TargetError(
            f"XLS cannot bind '{array.name}' to {memory.resource.upper()}: arrays are values there, kept in registers",
            at=array.at, hint="leave out bind",
        )  # fmt: skip


XLS = Vendor(
    name="XLS",
    pipeline="#pragma hls_pipeline_init_interval {interval}",
    rewind=None,
    unroll="#pragma hls_unroll yes",
    unroll_by=None,
    dataflow=None,
    inline_off="",
    allocation="",
    arrays=ArraysAsValues(),
    streams=Streams(source=None, sink=None, made=None, pragma="", empty=None, full=None),
    place=Place.BEFORE_LABEL,
    words=AcWords(),
    dialect=Dialect(
        integers="ac_int.h",
        fixed="ac_fixed.h",
        half="",
        mathematics="",
        streams="",
        folder="ac",
        respell=ac_names("#pragma hls_unroll yes"),
        has_floats=False,
        standard=("cstdint",),
    ),
    before_top="#pragma hls_top",
    plain_loop="#pragma hls_unroll yes",  # a loop is one or the other
    hints={
        "unroll(..., factor=n)": "split the loop by n and unroll the inner loop",
        "loops whose statements run at once": "leave out dataflow: what is independent runs at once anyway",
        "streams between kernels": "leave out relay: arrays are values there",
        "streams inside of a kernel": "leave out relay: arrays are values there",
        "pipeline(..., rewind=True)": "leave out rewind",
    },
)
