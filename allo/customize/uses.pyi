"""Types of the uses of a schedule, which are classes of layers above."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, overload

from ..backend.cpu import LLVMModule
from ..backend.hls import HLSModule
from ..compose import DataflowGraph
from ..dataflow.timed.run import TimedRun
from ..estimate import Estimate
from ..report import Drawing, StructureReport
from ..target import Target
from ..verify import Result
from .step.handles import Buffer

class Uses:
    @overload
    def build(
        self,
        target: Literal["llvm"] | None = None,
        mode: None = None,
        project: None = None,
        configs: None = None,
        **options: Any,
    ) -> LLVMModule: ...
    @overload
    def build(
        self,
        target: Literal["vhls", "vitis_hls", "vivado_hls", "pynq", "ihls", "catapult", "tapa"],
        mode: str | None = None,
        project: str | None = None,
        configs: dict[str, Any] | None = None,
        **options: Any,
    ) -> HLSModule: ...
    @overload
    def build(
        self,
        target: str | None = None,
        mode: str | None = None,
        project: str | None = None,
        configs: dict[str, Any] | None = None,
        **options: Any,
    ) -> Any: ...
    def verify(
        self,
        *,
        reassociate: bool = False,
        timeout: float = 60.0,
        method: str = "auto",
        instantiate: Sequence[Any] | Mapping[str, Any] | None = None,
    ) -> Result: ...
    @property
    def graph(self) -> DataflowGraph: ...
    def draw(self, figures: TimedRun | Estimate | None = None) -> Drawing: ...
    def draw_loops(self, k: int | None = None) -> Drawing: ...
    def draw_banks(self, array: str | Buffer) -> Drawing: ...
    @overload
    def report(self, target: None = None) -> StructureReport: ...
    @overload
    def report(
        self,
        target: str | Path | Target,
        *,
        profile: str | None = None,
        frequency: float | None = None,
        auto_pipeline: bool = False,
        unsafe_math: bool = False,
        rewritten: bool = False,
        rewrites: Sequence[str] = (),
        trips: Mapping[str, int] | None = None,
        operators: Mapping[str, str] | None = None,
        memory: str | Mapping[str, str] | None = None,
        in_place: Sequence[str] = (),
        word_bits: int = ...,
        subnormals: str = "keep",
    ) -> Estimate: ...
