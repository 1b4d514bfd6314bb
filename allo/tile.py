"""Tile programs: the marks of kernels, plans that map them on meshes of cores, and their simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from .backend.mesh.held import HeldTiles
from .backend.mesh.read_kernel import ReadKernel
from .backend.mesh.reading import read_program
from .backend.mesh.simulate import MeshRun, MeshSimulation, simulation_work
from .backend.mesh.views import CoreViews, demand_arrays, random_array
from .backend.metalium.project import MetaliumProject, metalium_project
from .customize import Schedule, customize
from .errors import KernelError, TargetError, VerificationError
from .frontend.tiles import is_tile_kernel, kernel, load, programs, store
from .mapping.tiles.blocks import demand_covered, instances
from .mapping.tiles.choices import TileMapping, all_mappings, used_bytes
from .mapping.tiles.model import TileEstimate, TileModel
from .mapping.tiles.plan import PlanSpace, PlanStep, parse_steps
from .mapping.tiles.program import TileProgram
from .mapping.tiles.search import search
from .mapping.tiles.traffic import TrafficModel
from .picture.drawing import DrawnText
from .target import CoreMesh, load_target
from .target.mesh_routes import MeshRoutes
from .task_grid import PlanTasks
from .tile_pictures import drawn_plan, drawn_run
from .verify import Equivalent, MappedProgram

__all__ = ["TilePlan", "kernel", "load", "map", "plan", "plans", "programs", "store"]


@dataclass(frozen=True)
class TilePlan(MappedProgram):
    """A tile program mapped on a mesh: its decisions, what they cost by the model, and runs in the simulator.

    `others` are the next best plans of a search, `values` those of the kernel's template.
    """

    kernel: Callable[..., Any] | Schedule
    mesh: CoreMesh
    values: tuple[tuple[str, Any], ...]
    mapping: TileMapping
    others: tuple[TilePlan, ...] = ()
    _read: ReadKernel = field(repr=False, compare=False, kw_only=True)
    _model: TileModel = field(repr=False, compare=False, kw_only=True)

    @property
    def program(self) -> TileProgram:
        """The grid, loops, tiles and work of the kernel."""
        return self._read.program.program

    @property
    def source(self) -> Schedule:
        """The kernel with the values of its template."""
        return self._read.schedule

    @property
    def _routes(self) -> MeshRoutes:
        return self._model.traffic.routes

    @property
    def _space(self) -> PlanSpace:
        return PlanSpace(self.program, self._routes)

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        """All decisions in order. Their text, one a line, is what `replay` takes."""
        return self._space.steps(self.mapping)

    @property
    def estimate(self) -> TileEstimate:
        """What the performance model says of the plan."""
        return self._model.estimate(self.mapping)

    @property
    def bytes(self) -> int:
        """The bytes of a core's memory that the plan needs."""
        return used_bytes(self.program, self.mapping)

    def spread(self, **dims: str | Sequence[str]) -> TilePlan:
        """Another plan, in which dimensions of the grid are spread over those of the cores, in the order of tiling.

        Loads are issued where they are used again, by every core for itself.
        """
        return self._with(PlanStep("spread", (), tuple(dims.items())))

    def waves(self, *order: str) -> TilePlan:
        """Another plan with this order of the loops over waves, outermost first; loads as in `spread`."""
        return self._with(PlanStep("waves", order, ()))

    def load(self, name: str, delivery: str, *networks: str, inside: str | None, buffers: int = 1) -> TilePlan:
        """Another plan, in which a load is delivered so, once an iteration of the loop `inside` (None: once)."""
        named = (("inside", inside), ("buffers", buffers))
        return self._with(PlanStep("load", (name, delivery, *networks), named))

    def store(self, name: str, *, buffers: int) -> TilePlan:
        """Another plan, in which a stored tile has so many buffers: with 2, the next one is computed meanwhile."""
        return self._with(PlanStep("store", (name,), (("buffers", buffers),)))

    def replay(self, steps: str | Sequence[PlanStep]) -> TilePlan:
        """This program on this mesh with other decisions. Raises TargetError for one that is not legal here."""
        found, given = self, parse_steps(steps) if isinstance(steps, str) else steps
        if not isinstance(given, Sequence) or not all(isinstance(step, PlanStep) for step in given):
            raise TargetError(f"steps are a text or those of a plan, got {steps!r}", hint="give `plan.steps`")
        for step in given:
            found = found._with(step)
        return found

    def _with(self, step: PlanStep) -> TilePlan:
        return replace(self, mapping=self._space.apply(self.mapping, step), others=())

    def diff(self, other: TilePlan) -> str:
        """The decisions in which two plans differ, this one's with `-`, the other's with `+`, and both estimates."""
        if not isinstance(other, TilePlan):
            raise TargetError(f"a plan is compared with a plan, got {other!r}")
        mine, theirs = [str(step) for step in self.steps], [str(step) for step in other.steps]
        lines = [f"- {step}" for step in mine if step not in theirs]
        lines += [f"+ {step}" for step in theirs if step not in mine]
        before, after = self.estimate.cycles, other.estimate.cycles
        return "\n".join([*lines, f"estimated cycles: {before:.0f} -> {after:.0f} ({after / before - 1:+.1%})"])

    def simulate(self, *, traced: bool = False) -> MeshRun:
        """The cycles of the plan in the simulator of the mesh, without data; `traced` keeps what cores do when."""
        return MeshSimulation(self.program, self.mapping, self._routes, traced=traced).run()

    def within(self, cycles: float) -> MeshRun | None:
        """`simulate`, given up as soon as the plan surely takes so many cycles or more: None."""
        return MeshSimulation(self.program, self.mapping, self._routes).within(cycles)

    def run(self, *arrays: np.ndarray[Any, Any]) -> MeshRun:
        """Run the plan in the simulator on NumPy arrays, which are changed in place, tile by tile as they move.

        Raises TypeError or ValueError for arrays that do not fit.
        """
        demand_arrays(self._read.program, self.mapping.space_time.active_cores, arrays)
        views = CoreViews(self._read.segments, arrays)
        return MeshSimulation(self.program, self.mapping, self._routes, views).run()

    def verify(self) -> Equivalent:
        """Prove that the plan computes what the kernel does, whatever the data: all transfers are simulated.

        Each program runs on one core, its segments once and in their order, each with all tiles that it reads in
        buffers of their size, and results are stored. That programs are independent, and tiles cover what statements
        use, is proven when a kernel is read. Raises VerificationError with what does not hold.
        """
        started = perf_counter()
        held = HeldTiles(self.program, self.mapping)
        MeshSimulation(self.program, self.mapping, self._routes, held).run()
        held.demand_all()
        method, second = "simulation of all transfers", f"its plan on {self.mesh.name}"
        return Equivalent(method, perf_counter() - started, first=self.program.name, second=second)

    def region(self) -> str:
        """The plan as the text of a dataflow region: a task for each core, load and store, with streams between them.

        Raises TargetError for what streams do not do: tiles that are kept over iterations, waves that are not full.
        """
        if isinstance(self.kernel, Schedule):
            raise TargetError("a schedule has no text to make tasks of", hint="map the kernel itself")
        return PlanTasks(self.kernel, dict(self.values), self.program, self.mapping, self._routes).text()

    def tasks(self) -> Schedule:
        """The schedule of `region()`, for all backends. Raises as that does."""
        return customize(self.region())

    def check(self, seed: int = 0) -> None:
        """Run the plan in the simulator on random arrays, and compare all bits with the kernel on the CPU.

        A core sees of arrays what transfers have brought, and poison elsewhere: a tile that is missing, late or gone
        too early shows in every result that depends on it. Raises VerificationError with the first difference.
        """
        random = np.random.default_rng(seed)
        arrays = [random_array(random, array.shape, array.element) for array in self.program.arrays]
        wanted = [array.copy() for array in arrays]
        self.run(*arrays)
        self._read.whole(*wanted)
        for array, made, expected in zip(self.program.arrays, arrays, wanted, strict=True):
            different = np.argwhere(made.view(np.uint8) != expected.view(np.uint8))
            if len(different):
                *place, last = (int(k) for k in different[0])
                at = [*place, last // made.itemsize]
                raise VerificationError(
                    f"the plan gives {array.name}{at} = {made[tuple(at)]}, the kernel {expected[tuple(at)]}",
                    hint="please report it: plans do not change results",
                )

    def build(self, target: str = "tt-metalium", *, project: str | Path | None = None) -> MetaliumProject:
        """The plan as a project for TT-Metalium in the folder `project`, or in a temporary one (docs/metalium.md).

        Raises TargetError for another target, and for what Tensix cores cannot do or have no room for.
        """
        if target != "tt-metalium":
            raise TargetError(f"there is no target '{target}' for plans", hint='there is "tt-metalium"')
        return metalium_project(self._read.program, self.mapping, self._routes, str(self), project)

    def draw(self) -> DrawnText:
        """The cores with the programs of their first wave, and how tiles come to them; notebooks show a picture.

        `save("plan.svg")` writes it: arrows are broadcasts along a line of cores.
        """
        return drawn_plan(self.program, self.mapping, self._routes, tuple(self._space.loads))

    def timeline(self, cores: Sequence[Sequence[int]] | None = None) -> DrawnText:
        """What cores do when in the simulator: compute, wait for tiles, wait for a store.

        Without `cores`, of 16 at most, which are spread over the mesh. Raises TargetError for one that has no program.
        """
        return drawn_run(self.simulate(traced=True), self.mesh, cores)

    def __str__(self) -> str:
        values = "".join(f", {name}={value}" for name, value in self.values)
        estimate = self.estimate
        lines = [f"# {self.program.name}{values} on {self.mesh.name}"]
        lines += [str(step) for step in self.steps]
        tera = self.program.operations * self.mesh.frequency / estimate.cycles * 1e-6
        rate = f", {tera:.3g} TFLOP/s of {self.mesh.peak:.3g}" if self.program.operations else ""
        bound = f"binding: {estimate.binding}; {self.bytes} bytes a core"
        lines.append(f"# {estimate.cycles:.0f} cycles, estimated{rate}; {bound}")
        return "\n".join(lines)


def _mesh(target: str | Path | CoreMesh) -> CoreMesh:
    mesh = load_target(target)
    if not isinstance(mesh, CoreMesh):
        raise TargetError(
            f"'{mesh.name}' is no mesh of cores: tile programs cannot be mapped on it",
            hint='give a target of kind "mesh", such as "wormhole_n300d"',
        )
    return mesh


def _read(function: Callable[..., Any] | Schedule, values: Mapping[str, Any]) -> ReadKernel:
    if isinstance(function, Schedule):
        return ReadKernel(read_program(function.ir), function)
    if not is_tile_kernel(function):
        name = getattr(function, "__name__", repr(function))
        raise TargetError(f"'{name}' is no tile program", hint="write `@tile.kernel` above it")
    schedule = customize(function, instantiate=values or None)
    return ReadKernel(read_program(schedule.ir), schedule)


def plan(
    function: Callable[..., Any] | Schedule, target: str | Path | CoreMesh, instantiate: Mapping[str, Any] | None = None
) -> TilePlan:
    """The conservative plan of a tile program, from which a user makes others step by step.

    Every core loads its tiles itself, where it uses them. Raises KernelError, and TargetError for what is no tile
    program, no mesh, or does not fit the memory of a core.
    """
    mesh = _mesh(target)
    routes = MeshRoutes(mesh)
    (values,) = instances(instantiate, None, settled=isinstance(function, Schedule))
    read = _read(function, values)
    space = PlanSpace(read.program.program, routes)
    first = space.first()
    space.demand_room(first)
    model = TileModel(read.program.program, TrafficModel(routes))
    return TilePlan(function, mesh, tuple(values.items()), first, _read=read, _model=model)


def plans(
    function: Callable[..., Any] | Schedule, target: str | Path | CoreMesh, instantiate: Mapping[str, Any] | None = None
) -> Iterator[TilePlan]:
    """All plans of a tile program on a mesh that fit the memory of a core, for small programs. Raises as `plan`."""
    first = plan(function, target, instantiate)
    return (replace(first, mapping=mapping) for mapping in all_mappings(first.program, first._routes))


def map(
    function: Callable[..., Any] | Schedule,
    target: str | Path | CoreMesh,
    k: int = 5,
    instantiate: Mapping[str, Any] | None = None,
    blocks: Mapping[str, Sequence[int]] | None = None,
    *,
    profile: bool = True,
) -> TilePlan:
    """The best plan of a tile program on a mesh; `others` has the next `k - 1`.

    The performance model ranks them; of programs that take little time to simulate, the best are ordered by their
    cycles in the simulator, as TL orders those that it has run on the device (`profile=False`: by the model alone).

    `blocks` gives values of template parameters that are tried, such as `{"BM": [64, 128]}`, beside those that
    `instantiate` fixes: what does not cut the arrays evenly is left out. The space and the model are those of TL
    (sections 2.2 to 2.5). Raises KernelError, and TargetError for what is no tile program, no mesh, or does not fit the
    memory of a core.
    """
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise TargetError(f"k must be a number of plans, at least 1, got {k!r}")
    mesh = _mesh(target)
    routes = MeshRoutes(mesh)
    traffic = TrafficModel(routes)
    found: list[tuple[float, TilePlan]] = []
    refused: list[str] = []
    for values in instances(instantiate, blocks, settled=isinstance(function, Schedule)):
        try:
            read = _read(function, values)
            program = read.program.program
            if blocks:
                demand_covered(program)
            wanted = max(k, _finalists(program, routes, k)) if profile else k
            model = TileModel(program, traffic)
            candidates = search(program, traffic, wanted, model).best
        except (KernelError, TargetError) as error:
            if not blocks:
                raise
            refused.append(f"{values}: {str(error).splitlines()[0]}")
            continue
        for one in candidates:
            named = tuple(values.items())
            made = TilePlan(function, mesh, named, one.mapping, _read=read, _model=model)
            found.append((one.cycles, made))
    if not found:
        raise TargetError("no blocks can be mapped:\n" + "\n".join(f"    {line}" for line in refused[:6]))
    found.sort(key=lambda pair: pair[0])
    ordered = [one for _, one in found]
    best, *others = (_profiled(ordered, k) if profile else ordered)[:k]
    return replace(best, others=tuple(others))


_PROFILED, _MOST = 56_000, 128  # work of simulations that decide between plans, and their number
_HOPEFUL = 1.1  # times the estimate of the fastest plan, for those beside it
_LARGEST = 56_000  # work of the simulations of the `k` best that is done in any case


def _finalists(program: TileProgram, routes: MeshRoutes, k: int) -> int:
    """How many plans are simulated to find the fastest: those of large programs take too long."""
    work = simulation_work(program, routes)
    found = min(int(_PROFILED / work), _MOST)
    return max(found, k) if work * k <= _LARGEST else found


def _profiled(plans: Sequence[TilePlan], k: int) -> list[TilePlan]:
    """Plans with those before the others that could be simulated, the fastest in the simulator first.

    Those beside the fastest, which have another number of buffers somewhere, are simulated too, until none is faster.
    """
    left, found = float(_PROFILED), list[tuple[float, TilePlan]]()

    def time(one: TilePlan) -> None:
        slowest = sorted(cycles for cycles, _ in found)[k - 1] if len(found) >= k else inf
        run = one.within(slowest)
        found.append((inf if run is None else run.cycles, one))

    for number, one in enumerate(plans[:_MOST]):
        work = simulation_work(one.program, one._routes)
        kept = min(work * len(one.steps), _PROFILED / 4)
        if left - work < kept and not (number < k and work * k <= _LARGEST):
            break
        left -= work
        time(one)
    known = {(one.values, one.mapping) for _, one in found}
    tried: TilePlan | None = None
    while found and (fastest := min(found, key=lambda pair: pair[0])[1]) is not tried:
        tried = fastest
        for one in _beside(fastest):
            left -= simulation_work(one.program, one._routes)
            if left >= 0 and (one.values, one.mapping) not in known:
                known.add((one.values, one.mapping))
                time(one)
    ordered = [one for _, one in sorted(found, key=lambda pair: pair[0])]
    return ordered + [one for one in plans if (one.values, one.mapping) not in known]


def _beside(plan: TilePlan) -> list[TilePlan]:
    """The plans in which one load or store has one buffer instead of two, or two instead of one; those that the model
    finds much slower are left out."""
    found = []
    for step in plan.steps:
        if "buffers" in (named := dict(step.named)):
            named["buffers"] = 3 - named["buffers"]
            with suppress(TargetError):
                found.append(plan.replay([replace(step, named=tuple(named.items()))]))
    most = _HOPEFUL * plan.estimate.cycles
    hopeful = [(cycles, k) for k, one in enumerate(found) if (cycles := one.estimate.cycles) <= most]
    return [found[k] for _, k in sorted(hopeful)]
