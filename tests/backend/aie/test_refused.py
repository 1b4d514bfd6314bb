"""What arrays of processors cannot run: the whole text of each refusal."""

from __future__ import annotations

import re
from typing import Any

import pytest

import allo.dataflow as df
from allo.errors import TargetError

from . import programs, refused, refused_limits


def told(region: Any, **options: Any) -> str:
    """The text of the error, without the places of the lines that it shows."""
    with pytest.raises(TargetError) as caught:
        df.build(region, target="aie", **options)
    text = re.sub(r'File ".*?", line \d+, column \d+: ', "", str(caught.value))
    text = re.sub(r'\n    File ".*', "", text)
    text = re.sub(r'\n    File ".*', "", text)
    text = re.sub(r'\n    File ".*', "", text)
    return re.sub(r"\n    .*\n +\^+", "", text)


REFUSED: dict[str, str] = {
    "no_region": (
        "'no_region' is no dataflow region, of whose tasks cores could be made\n"
        "  hint: write it with @df.region() and @df.kernel(mapping=[...])"
    ),
    "outside": (
        "'outside' has a statement or an array outside of its tasks, for which there is no core\n"
        "  hint: move it into a task; let tasks pass arrays through streams"
    ),
    "doubles": (
        "argument 'A' has elements of type f64; what is moved are i8, i16, i32, ui8, ui16, ui32, f16, bf16, "
        "f32\n"
        "  hint: declare it with one of these"
    ),
    "odd_array": (
        "cores keep no elements of type i72; there are integers of up to 64 bits, f16, bf16 and f32\n"
        "  hint: say so where it is made: `x: int32[...] = ...`"
    ),
    "fixed_point": (
        "cores have no 'allo.fixed_cast'\n  hint: write it with loops, loads, stores and arithmetic"
    ),
    "truth_values": (
        "a constant array has elements of type i1; cores begin with arrays of i8, i16, i32, i64, ui8, ui16, ui32, "
        "ui64, f16, bf16, f32\n"
        "  hint: declare it with one of these"
    ),
    "asks": (
        "streams on an array of processors are put into and got from; cores have no 'allo.stream_try_get'\n"
        "  hint: get an element, and keep it as long as it is needed"
    ),
    "by_data": (
        "how much passes through stream 'pipe' depends on data or arguments of the call\n"
        "  hint: transfers of an array of processors have fixed lengths"
    ),
    "races": (
        "task 'g_0' writes A[0:16], of which task 'f_0' uses too: transfers have no order among them\n"
        "  hint: pass what one needs of the other through a stream, and write parts that do not overlap"
    ),
    "halves": (
        "transfers move words of 4 bytes, and B[0:3], of 2 bytes an element, is not made of them: 6 "
        "bytes follow one another\n"
        "  hint: let parts begin and end at multiples of four bytes in the last dimension"
    ),
    "bytes_apart": (
        "an object of stream 'z' has 1 bytes, and 'f_0' at (0, 2) is not beside 'h_0' at (0, 4): DMA engines "
        "move words of 4\n"
        "  hint: put blocks of several elements"
    ),
    "late_choice": (
        "which stream of 's' is used is not known before the program runs\n"
        "  hint: let the position, or a loop over the streams, say which one it is"
    ),
}

LIMITS: dict[str, str] = {
    "gives_a_number": (
        "'gives_a_number' returns a value, and the array writes to arguments only\n"
        "  hint: let a task write to an argument"
    ),
    "large": (
        "the program does not fit 'xdna1_npu1'; there is too little of\n"
        "    memory of a core of core 'f_0' at (0, 2): 66,560 of 65,536, for 32,768 bytes of 'A_0', "
        "32,768 bytes of 'B_out_0', 1,024 bytes of stack\n"
        "  hint: make parts of arrays smaller, or let cores run several tasks (mapping_primitives)"
    ),
    "large_inside": (
        "the program does not fit 'xdna1_npu1'; there is too little of\n"
        "    memory of a core of core 'f_0' at (0, 2): 66,688 of 65,536, for 64 bytes of 'A_0', 64 bytes "
        "of 'B_out_0', 65,536 bytes of arrays that tasks make, 1,024 bytes of stack\n"
        "  hint: make parts of arrays smaller, or let cores run several tasks (mapping_primitives)"
    ),
    "deep": (
        "the program does not fit 'xdna1_npu1'; there is too little of\n"
        "    memory of a core of core 'f_0' at (0, 2): 87,040 of 65,536, for 16,384 bytes of 'A_0', "
        "65,536 bytes of 's', 4,096 bytes of arrays that tasks make, 1,024 bytes of stack\n"
        "  hint: make parts of arrays smaller, or let cores run several tasks (mapping_primitives)"
    ),
    "many": (
        "17 cores are needed, and 'xdna1_npu1' has 16: each position of a task takes one\n"
        '  hint: let cores run several: mapping_primitives=[("bundle", [...]), ("chain", [...])]'
    ),
    "three_inputs": (
        "the program does not fit 'xdna1_npu1'; there is too little of\n"
        "    DMA inputs of a core of core 'f_0' at (0, 2): 3 of 2, for A_0, B_0, C_0\n"
        "  hint: make parts of arrays smaller, or let cores run several tasks (mapping_primitives)"
    ),
    "three_outputs": (
        "the program does not fit 'xdna1_npu1'; there is too little of\n"
        "    DMA outputs of a core of core 'f_0' at (0, 2): 3 of 2, for B_out_0, C_out_0, D_out_0\n"
        "  hint: make parts of arrays smaller, or let cores run several tasks (mapping_primitives)"
    ),
    "counts": (
        "states are not kept in cores: a program may be loaded anew for each call\n"
        "  hint: pass the array, and let the task write it back"
    ),
    "pixels": (
        "argument 'A' has elements of type !allo.struct<{r: i8, g: i8}>; what is moved are i8, i16, i32, "
        "ui8, ui16, ui32, f16, bf16, f32\n"
        "  hint: declare it with one of these"
    ),
    "fixed_array": (
        "argument 'A' has elements of type !allo.fixed<16, 4>; what is moved are i8, i16, i32, ui8, "
        "ui16, ui32, f16, bf16, f32\n"
        "  hint: declare it with one of these"
    ),
    "wide_array": (
        "argument 'A' has elements of type i64; what is moved are i8, i16, i32, ui8, ui16, ui32, f16, bf16, "
        "f32\n"
        "  hint: declare it with one of these"
    ),
    "of_any_length": (
        "argument 'A' is memref<?xi32>: a call passes arrays of known extents to the array\n"
        "  hint: give it its extents"
    ),
    "column": (
        "transfers move words of 4 bytes, and B[0:8, 0:1], of 2 bytes an element, is not made of them: "
        "its elements do not follow one another\n"
        "  hint: let parts begin and end at multiples of four bytes in the last dimension"
    ),
    "puts_when_it_can": (
        "streams on an array of processors are put into and got from; cores have no "
        "'allo.stream_try_put'\n"
        "  hint: get an element, and keep it as long as it is needed"
    ),
    "asks_first": (
        "streams on an array of processors are put into and got from; cores have no 'allo.stream_empty'\n"
        "  hint: get an element, and keep it as long as it is needed"
    ),
    "last_elements": (
        "task 'f_0' writes B[0:16], of which task 'f_1' uses too: transfers have no order among them\n"
        "  hint: pass what one needs of the other through a stream, and write parts that do not overlap"
    ),
    "interleaved": (
        "task 'f_0' writes B[0:16], of which task 'f_1' uses too: transfers have no order among them\n"
        "  hint: pass what one needs of the other through a stream, and write parts that do not overlap; DMA engines "
        "move single elements between those of others if these have four bytes"
    ),
    "to_itself": (
        "'f_0' passes a stream to itself, and no order of iterations has elements in time\n"
        "  note: 'f_0' waits for 136 of 's', which 'f_0' puts\n"
        "  hint: let it be deeper, or use an array"
    ),
    "doubles_inside": (
        "cores keep no elements of type f64; there are integers of up to 64 bits, f16, bf16 and f32\n"
        "  hint: say so where it is made: `x: int32[...] = ...`"
    ),
    "star": (
        "the program does not fit 'xdna1_npu1'; there is too little of\n"
        "    DMA outputs of a core of core 'centre_0' at (1, 3): 4 of 2, for rays_1, rays_2, rays_3, "
        "rays_7\n"
        "  hint: make parts of arrays smaller, or let cores run several tasks (mapping_primitives)"
    ),
    "many_outputs": (
        "the program does not fit 'xdna1_npu1'; there is too little of\n"
        "    stream ports of the tiles (0, 0) to (3, 1), in from the north: 24 of 16, for "
        + ", ".join(f"B_out_{k}, C_out_{k}" for k in range(12))
        + "\n    whatever the ways are, so many streams pass there\n"
        "  hint: let cores run several tasks (mapping_primitives), so that fewer streams go from tile to tile"
    ),
    "funnel": (
        "the program does not fit 'xdna1_npu1'; there is too little of\n"
        "    DMA inputs of a core of core 'centre_0' at (1, 3): 4 of 2, for rays_0, rays_1, rays_2, "
        "rays_7\n"
        "  hint: make parts of arrays smaller, or let cores run several tasks (mapping_primitives)"
    ),
}

OPTIONS: list[tuple[dict[str, Any], str]] = [
    (
        {"device_type": "u280"},
        ("tasks are mapped on arrays of processors, and 'u280' is none\n  hint: take device_type=\"npu1\""),
    ),
    (
        {"device_type": "npu1_5col"},
        ("'npu1' has 4 columns, and 5 are asked for"),
    ),
    (
        {"dialect": "v2"},
        ("dialect must be a release of MLIR-AIE that texts are written for, v1.0, current; got 'v2'"),
    ),
    (
        {"layouts": "core"},
        ("layouts must be 'dma' or 'cores', which puts blocks of matrices in the order of kernels; got 'core'\n"
         "  hint: did you mean 'cores'?"),
    ),
    (
        {"mode": "csim"},
        ("target 'aie' has no mode 'csim'\n  hint: its modes: none"),
    ),
]

HANGS = (
    "mapped like this (chain ['f_0', 'h_0']), cores wait for one another for ever\n"
    "  note: waits, 1 of 4: 'runtime_sequence' waits to get from 'B_out_0 tokens', which is empty "
    "(0 of 1; 0 put, 0 taken), until 'shim_B_out_0' puts one in\n"
    "  note: waits, 2 of 4: 'shim_B_out_0', in iteration i = 0, waits to get from 'B_out_0 from "
    "f_0-h_0', which is empty (0 of 16; 0 put, 0 taken), until 'core_f_0_h_0' puts one in\n"
    "  note: waits, 3 of 4: 'core_f_0_h_0', in iteration i = 0, i = 0, i = 3, waits to get from "
    "'there free', which is empty (0 of 1; 3 put, 3 taken), until 'core_g_0' puts one in\n"
    "  note: waits, 4 of 4: 'core_g_0', in iteration i = 0, i = 0, _i = 1, waits to get from 'back "
    "free', which is empty (0 of 1; 1 put, 1 taken), until 'core_f_0_h_0' puts one in\n"
    "  hint: let streams be deeper, or chain in the order in which data flow"
)


@pytest.mark.parametrize("name", REFUSED)
def test_region(name: str) -> None:
    assert told(getattr(refused, name)) == REFUSED[name]


@pytest.mark.parametrize("name", LIMITS)
def test_what_there_is_too_little_of(name: str) -> None:
    assert told(getattr(refused_limits, name)) == LIMITS[name]


def test_forty_wrong_programs() -> None:
    assert len(REFUSED) + len(LIMITS) + len(OPTIONS) + 2 >= 40


@pytest.mark.parametrize(("options", "message"), OPTIONS)
def test_options(options: dict[str, Any], message: str) -> None:
    assert told(programs.vector_scale, **options) == message


def test_tasks_in_a_circle_that_cannot_take_turns() -> None:
    """Iterations of a loop that do not all move as much are not put between those of another."""
    df.build(refused.growing, target="aie")
    with pytest.raises(TargetError) as caught:
        df.build(refused.growing, target="aie", mapping_primitives=[("chain", ["f_0", "g_0"])])
    (told,) = caught.value.diagnostics
    assert told.message == (
        "chain: 'f_0', 'g_0' pass streams in a circle, and no order of iterations has elements in time"
    )
    assert [note.message for note in told.notes] == [
        "'f_0' waits for 16 of 'back', which 'g_0' puts", "'g_0' waits for 136 of 'there', which 'f_0' puts",
    ]  # fmt: skip
    assert all(note.at is not None for note in told.notes)
    assert told.hint == "let one of them put first elements before its loop, or give them cores of their own"


def test_cores_that_wait_for_one_another() -> None:
    """A first task that puts all before the last one takes any, where what is between holds only some."""
    df.build(refused.crossed, target="aie")
    assert told(refused.crossed, mapping_primitives=[("chain", ["f_0", "h_0"])]) == HANGS
