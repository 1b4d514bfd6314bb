"""place_stages: stages on the dies of a chip, what is refused, and what projects and estimates say of them."""

# ruff: noqa: E501, F821 - golden text is not wrapped, and kernels declare variables without values

from dataclasses import astuple
from pathlib import Path

import pytest

import allo
import allo.dataflow as df
from allo import Schedule, TargetError, customize
from allo.customize.fifo.dies import RESOURCES
from allo.ir.types import Stream, float32, int32
from tests.target.test_loader import changed

from .checks import assert_faithful, assert_refused


def layers(A: float32[64], B: float32[64]):
    C: float32[64]
    D: float32[64]
    for i in range(64, name="scale"):
        C[i] = A[i] * 3.0
    for j in range(64, name="square"):
        D[j] = C[j] * C[j] + 1.0
    for k in range(64, name="turn"):
        B[k] = D[63 - k] / 3.0


def streamed() -> Schedule:
    s = customize(layers)
    s.relay("C", "square")
    s.dataflow("layers")
    return s


ENDS = {"scale": "SLR0", "turn": "SLR2"}


def test_golden() -> None:
    """The FIFO of 34 wires crosses, not the array of 32 and 6; the array counts twice where it is read."""
    s = streamed()
    plan = s.place_stages("layers", fixed=ENDS)
    assert str(plan) == PLAN
    assert str(s.steps[-1]) == (
        "s.place_stages(\"layers\", stages=['scale', 'square', 'turn'], dies=['SLR0', 'SLR2', 'SLR2'])"
    )
    head = next(line for line in str(s.module).splitlines() if "func.func" in line)
    assert 'allo.x_dies = {scale = "SLR0", square = "SLR2", turn = "SLR2"}' in head
    assert_faithful(layers, s)


PLAN = """\
layers on dies of u280, of the fewest wires: 68 between dies; 0.389 % of the LUT of SLR2, estimated

die   stages        DSP          BRAM18       URAM  LUT              FF
----  ------------  -----------  -----------  ----  ---------------  ---------------
SLR0  scale         3 (0.11 %)   0            0     210 (0.0569 %)   233 (0.0312 %)
SLR1  none          0            0            0     0                0
SLR2  square, turn  5 (0.174 %)  3 (0.293 %)  0     1,428 (0.389 %)  1,453 (0.199 %)

crosses  is    from           to              wires
-------  ----  -------------  --------------  -----
fifo_C   FIFO  scale on SLR0  square on SLR2  34

between        wires  there are
-------------  -----  ---------
SLR0 and SLR1  34     23,040
SLR1 and SLR2  34     23,040"""


def test_given() -> None:
    """By hand, with what crosses then: data and address of a port of the array."""
    s = streamed()
    plan = s.place_stages("layers", stages=["scale", "square", "turn"], dies=["SLR0", "SLR0", "SLR1"])
    assert plan.how == "given" and plan.bits == 38
    assert [(link.array, link.kind, link.bits) for link in plan.crossings] == [("D", "array", 32 + 6)]
    again = customize(layers)
    again.relay("C", "square")
    again.dataflow("layers")
    again.replay(s.steps[-1:])
    assert str(again.module) == str(s.module)


def test_all_is_counted() -> None:
    """What stages take is what the estimate says of the function, but for its own control."""
    s = streamed()
    plan = s.place_stages("layers")
    whole = allo.estimate(s).kernel.resources
    stages = [sum(stage.needs[key] for stage in plan.graph.stages) for key in RESOURCES]
    assert tuple(a - b for a, b in zip(astuple(whole), stages, strict=True)) == (0, 0, 0, 120, 120)


def triple(x: float32) -> float32:
    return x * 3.0


def calls(A: float32[64], B: float32[64]):
    T: float32[64]
    for i in range(64, name="one"):
        T[i] = triple(A[i])
    for j in range(64, name="two"):
        B[j] = triple(T[j])


def test_instances_are_counted() -> None:
    """A function that two nests call has instances in both, as many as there are copies of the calls."""
    s = customize(calls)
    s.dataflow("calls")
    outer_loop, inner = s.split("one.i", 4)
    s.pipeline(outer_loop)
    s.unroll(inner)
    plan = s.place_stages("calls")
    assert [stage.needs["DSP"] for stage in plan.graph.stages] == [4 * 3, 3]
    assert allo.estimate(s).kernel.resources.dsp == 15


@df.region()
def grid(A: int32[8], B: int32[8]):
    pipe: Stream[int32, 4][5]

    @df.kernel(mapping=[1], args=[A])
    def load(a: int32[8]):
        for i in range(8):
            pipe[0].put(a[i])

    @df.kernel(mapping=[4])
    def pe():
        k = df.get_pid()
        for _ in range(8):
            pipe[k + 1].put(pipe[k].get() + 1)

    @df.kernel(mapping=[1], args=[B])
    def store(b: int32[8]):
        for i in range(8):
            b[i] = pipe[4].get()


def test_tasks(tmp_path: Path) -> None:
    """Tasks are stages, all positions of a grid are one; of an array of FIFOs those cross that both ends use."""
    s = df.customize(grid)
    plan = s.place_stages("grid", fixed={"load": "SLR0", "pe": "SLR1", "store": "SLR2"})
    assert [(link.source, link.sink, link.bits) for link in plan.crossings] == [("load", "pe", 34), ("pe", "store", 34)]
    whole = allo.estimate(s).kernel.resources
    taken = [sum(stage.needs[key] for stage in plan.graph.stages) for key in RESOURCES]
    assert tuple(a - b for a, b in zip(astuple(whole), taken, strict=True)) == (0, 0, 0, 120, 120)
    assert places(s, tmp_path) == ["SLR0 load", "SLR1 pe_0 several", "SLR2 store"]


def places(s: Schedule, folder: Path) -> list[str]:
    """What the floorplan of a project says."""
    s.build(target="vitis_hls", mode="hw", project=str(folder))
    text = (folder / "floorplan.tcl").read_text()
    return [line.removeprefix("place_on ") for line in text.splitlines() if line.startswith("place_on ")]


@df.region()
def rows(A: int32[2, 6], B: int32[2, 6]):
    line: Stream[int32, 4][2]

    @df.kernel(mapping=[2], args=[A])
    def source(a: int32[2, 6]):
        p = df.get_pid()
        for i in range(6):
            line[p].put(a[p, i] + a[p, 0])

    @df.kernel(mapping=[2], args=[B])
    def sink(b: int32[2, 6]):
        p = df.get_pid()
        for i in range(6):
            b[p, i] = line[p].get() * 2


def test_templates(tmp_path: Path) -> None:
    """Positions that differ in numbers are instances of a template, which tools call after these numbers."""
    s = df.customize(rows)
    s.partition("A", dim=1)
    s.partition("B", dim=1)
    s.place_stages("rows", fixed={"source": "SLR0", "sink": "SLR1"})
    assert places(s, tmp_path) == ["SLR1 sink_0 template", "SLR0 source_0 template"]


def outer(A: float32[64], B: float32[64]):
    layers(A, B)


def test_callees(tmp_path: Path) -> None:
    """Regions that the entry calls can be placed, by steps of their own schedule too; reports find them."""
    part = streamed()
    part.place_stages("layers", fixed=ENDS)
    s = customize(outer)
    s.compose(part)
    assert s.steps[-1].name == "place_stages" and '# on SLR2' in s.pseudocode()
    assert places(s, tmp_path) == ["SLR2 layers_turn", "SLR0 layers_scale", "SLR2 layers_square"]
    (found,) = s.report("u280").dies
    assert found.graph.function == "layers" and found.bits == 68


def test_project(tmp_path: Path) -> None:
    """Nests are functions, whose instances the floorplan names; another build takes the file away."""
    s = streamed()
    s.place_stages("layers", fixed=ENDS)
    assert places(s, tmp_path) == ["SLR2 layers_turn", "SLR0 layers_scale", "SLR2 layers_square"]
    code = (tmp_path / "kernel.cpp").read_text()
    assert all(f"void layers_{name}(" in code for name in ("scale", "square", "turn"))
    hook = "$(if $(filter hw,$(TARGET)),--vivado.prop run.impl_1.STEPS.PLACE_DESIGN.TCL.PRE=$(abspath floorplan.tcl))"
    assert f"--config link.cfg {hook} --output $@ $<" in (tmp_path / "Makefile").read_text()
    s.place_stages("layers")
    s.build(target="vitis_hls", mode="hw", project=str(tmp_path))
    assert not (tmp_path / "floorplan.tcl").exists()
    assert "nk=layers_top:1:layers_top_1\nslr=layers_top_1:SLR0\n" in (tmp_path / "link.cfg").read_text()
    assert "floorplan" not in (tmp_path / "Makefile").read_text()


def test_other_devices(tmp_path: Path) -> None:
    """A device without the die is refused; where no card is linked, places mean nothing."""
    s = streamed()
    s.place_stages("layers", fixed=ENDS)
    with pytest.raises(TargetError) as caught:
        s.build(target="vitis_hls", mode="hw", project=str(tmp_path), configs={"device": "u50"})
    assert str(caught.value) == (
        "stage 'layers_square' was placed on SLR2, which device 'u50' has not; it has SLR0, SLR1\n"
        "  hint: place_stages() for this device"
    )
    s.build(target="vitis_hls", mode="csyn", project=str(tmp_path / "zynq"), configs={"device": "zynq7020"})
    assert not (tmp_path / "zynq" / "floorplan.tcl").exists()


def test_script(tmp_path: Path) -> None:
    """The floorplan runs: cells of each stage get its die, and one that has no cells is an error."""
    tkinter = pytest.importorskip("tkinter", reason="Tcl is not here")
    s = df.customize(grid)
    s.place_stages("grid", fixed={"load": "SLR0", "pe": "SLR1", "store": "SLR2"})
    places(s, tmp_path)
    cells = ["top/load_U0", "top/pe_0_U0", "top/pe_0_1_U0", "top/pe_0_2_U0", "top/store_U0", "top/loader_U0"]
    tcl = tkinter.Tcl()
    tcl.eval("""
      proc get_cells {args} {
        if {[lrange $args 0 3] ne {-quiet -hierarchical -regexp -filter}} { error "get_cells $args" }
        if {![regexp {^NAME =~ "(.*)"$} [lindex $args 4] all pattern]} { error "filter [lindex $args 4]" }
        return [lsearch -all -inline -regexp $::cells "^$pattern"]
      }
      proc set_property {name value cells} { foreach cell $cells { set ::($name,$cell) $value } }
    """)
    tcl.setvar("cells", " ".join(cells))
    tcl.eval((tmp_path / "floorplan.tcl").read_text())
    found = {cell: tcl.eval(f"info exists {{::(USER_SLR_ASSIGNMENT,{cell})}}") == "1" for cell in cells}
    assert found == {cell: cell != "top/loader_U0" for cell in cells}
    assert tcl.eval("set {::(USER_SLR_ASSIGNMENT,top/pe_0_2_U0)}") == "SLR1"
    tcl.setvar("cells", " ".join(cells[1:]))
    with pytest.raises(tkinter.TclError) as caught:
        tcl.eval((tmp_path / "floorplan.tcl").read_text())
    assert str(caught.value) == (
        "floorplan.tcl: no cell is called load_U0, so that stage load cannot be placed on SLR0"
    )


def test_report() -> None:
    """Estimates for the target say who is where; for others, and after steps that change stages, that it is lost."""
    s = streamed()
    s.place_stages("layers", fixed=ENDS)
    found = s.report("u280")
    assert str(found.dies[0]) == PLAN.replace("of the fewest wires", "as placed")
    assert str(found.dies[0]) in str(found)
    page = found.to_html()
    assert "<td>scale on SLR0</td>" in page and ": 68 between dies" in page
    other = s.report("zynq7020")
    assert not other.dies and other.notes[-1] == (
        "layers: its stages were placed on dies, but target 'zynq7020' describes no dies, and stages are placed on SLR0, "
        "SLR2; place_stages() again"
    )


def both(A: float32[64], B: float32[64], C: float32[64]):
    for i in range(64, name="pair"):
        B[i] = A[i] * 3.0
        C[i] = A[i] + 3.0


def test_stages_that_change() -> None:
    """A stage that a later step makes has no die, and one that it takes away has none any more."""
    s = customize(both)
    s.dataflow("both")
    s.place_stages("both")
    s.fission("pair.i")
    found = s.report("u280")
    assert not found.dies and found.notes[-1] == (
        "both: its stages were placed on dies, but pair_1 is on no die; place_stages() again"
    )


def first(A: float32[64], B: float32[64], C: float32[1]):
    for i in range(64, name="double"):
        B[i] = A[i] * 2.0
    C[0] = A[0]


def test_refusals() -> None:
    assert_refused("""
place_stages: stages= and dies= are given together, a die for each stage
  hint: s.place_stages("f", stages=["A", "B"], dies=["SLR0", "SLR1"])
    """, streamed(), "place_stages", "layers", stages=["scale"])
    assert_refused("""
place_stages: fixed= places some stages by hand, and stages= all
  hint: leave out one of them
    """, streamed(), "place_stages", "layers", stages=["scale"], dies=["SLR0"], fixed=ENDS)
    assert_refused("""
place_stages: fill= is the part of a die that may be taken, above 0 and at most 1, got 70.0
    """, streamed(), "place_stages", "layers", fill=70.0)
    assert_refused("""
place_stages: wires= are those between two dies, at least 1, got 0
    """, streamed(), "place_stages", "layers", wires=0)
    assert_refused("""
place_stages: 'layers' has no stage 'scales'
  hint: did you mean 'scale'?
    """, streamed(), "place_stages", "layers", fixed={"scales": "SLR0"})
    assert_refused("""
place_stages: target 'u280' has no die 'middle'
  hint: its dies are SLR0, SLR1, SLR2
    """, streamed(), "place_stages", "layers", fixed={"scale": "middle"})
    assert_refused("""
place_stages: stages= leaves out 'square' and 1 more
  hint: fixed= places some stages, and leaves the others to the plan
    """, streamed(), "place_stages", "layers", stages=["scale"], dies=["SLR0"])
    assert_refused("""
place_stages: 'layers' is no dataflow region: its parts run one after the other, and tools share units between them
  hint: s.dataflow("layers") makes stages of them
    """, customize(layers), "place_stages", "layers")


def test_refused_targets(tmp_path: Path) -> None:
    with pytest.raises(TargetError) as caught:
        streamed().place_stages("layers", "zynq7020")
    assert str(caught.value) == (
        "target 'zynq7020' describes no dies\n  hint: take u280 or u55c, or give its file a [[die]] for each"
    )
    file = changed(tmp_path, "[crossing]\nwires = 23040\n", "")
    with pytest.raises(TargetError) as caught:
        streamed().place_stages("layers", str(file))
    assert str(caught.value) == (
        "target 'u280' does not say how many wires there are between two dies\n  hint: give wires="
    )
    assert streamed().place_stages("layers", str(file), wires=100).graph.wires == 100


def test_what_does_not_fit() -> None:
    """Places by hand are looked at too, and again with each step that is repeated."""
    assert_refused("""
place_stages: SLR0 would hold 5 DSP, and has room for 2, 0.1 % of 2,733 on u280
  hint: place fewer stages there, or give a larger fill=
    """, streamed(), "place_stages", "layers", fill=0.001, stages=["scale", "square", "turn"], dies=["SLR1", "SLR0", "SLR2"])
    assert_refused("""
place_stages: 34 wires would lie between SLR0 and SLR1, and there are 20 on u280
  hint: place fewer stages there, or give a larger fill=
    """, streamed(), "place_stages", "layers", wires=20, stages=["scale", "square", "turn"], dies=["SLR0", "SLR1", "SLR1"])
    assert_refused("""
place_stages: stage 'scale' takes 3 DSP, and SLR0 of u280 has room for 2, 0.1 % of 2,733
  hint: make two stages of it, or let it take less: fewer copies of its loops, other memories
    """, streamed(), "place_stages", "layers", fill=0.001)


def test_stages_without_a_name() -> None:
    s = customize(first)
    s.dataflow("first")
    assert_refused("""
File, line N, column 12: 'first' has a stage that is neither a loop nest nor a call, and tools give it no name
    C[0] = A[0]
           ^
  hint: put it into a loop nest or into a function
    """, s, "place_stages", "first")
