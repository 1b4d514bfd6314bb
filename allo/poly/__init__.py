"""The polyhedral model of a function, and the questions that schedules put to it."""

from typing import TYPE_CHECKING

from .bounds import OutOfBounds, out_of_bounds
from .carried import carried_by, passed_on
from .escapes import escapes
from .extract import extract, model_of, model_without_elements
from .fifo_order import (
    Box,
    OrderMismatch,
    OrderObstacle,
    Transfer,
    fifo_obstacle,
    inside,
    only_first_values,
    overwritten,
    read_box,
    unwritten,
)
from .footprint import AffineForm, Extent, Footprint, footprint
from .fusion import Needed, RecomputeObstacle, always, merge_violation, moved_past, needed_iterations
from .grid_trips import longest_trip
from .instances import between_instances, shared_end
from .iterations import Iterations, iterations_of
from .linear import Linear, Quotient
from .model import Access, AccessKind, Model, ModelBuffer, ModelLoop, ModelParameter, Source
from .must_writes import begins_anew, overwritten_arguments
from .order import order_violation, writes_again
from .pairs import Dependence
from .places import ElementPlace, in_any_case, is_inside, may_be_one, place_of
from .position_classes import position_classes
from .rebound import Bounds, Side, loop_rows, rebound, scan_bounds
from .regions import (
    Clash,
    backward_between_iterations,
    forbidden_cuts,
    same_stream,
    stage_clash,
    wholly_overwritten,
)
from .sources import SeenWrites, writes_seen
from .space import CopyLoop, Form, Space, TimeLoop
from .task_uses import TaskClash, TaskUse, first_clash, first_outside, may_meet, pairs_of, task_uses
from .token_blocks import Cut, whole_blocks
from .token_bounds import TokenBounds, token_bounds
from .trips import Count, Trips, always_whole, mean_with_range, runs_of, shares_of, trips_of, values_of
from .updates import Reductions, Update, updates_of
from .violation import Undecided, Violation
from .window import Window, window

# Programs without FIFOs never run any: `import allo` does not load what runs them.
if TYPE_CHECKING:
    from .hangs import (
        ROOM,
        SharedStream,
        Surplus,
        TaskPosition,
        Untold,
        always_ends,
        hang_of,
        imbalance_of,
        runs_in_order,
    )
else:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        from . import hangs

        return getattr(hangs, name)


__all__ = [
    "ROOM",
    "Access",
    "AccessKind",
    "AffineForm",
    "Bounds",
    "Box",
    "Clash",
    "CopyLoop",
    "Count",
    "Cut",
    "Dependence",
    "ElementPlace",
    "Extent",
    "Footprint",
    "Form",
    "Iterations",
    "Linear",
    "Model",
    "ModelBuffer",
    "ModelLoop",
    "ModelParameter",
    "Needed",
    "OrderMismatch",
    "OrderObstacle",
    "OutOfBounds",
    "Quotient",
    "RecomputeObstacle",
    "Reductions",
    "SeenWrites",
    "SharedStream",
    "Side",
    "Source",
    "Space",
    "Surplus",
    "TaskClash",
    "TaskPosition",
    "TaskUse",
    "TimeLoop",
    "TokenBounds",
    "Transfer",
    "Trips",
    "Undecided",
    "Untold",
    "Update",
    "Violation",
    "Window",
    "always",
    "always_ends",
    "always_whole",
    "backward_between_iterations",
    "begins_anew",
    "between_instances",
    "carried_by",
    "escapes",
    "extract",
    "fifo_obstacle",
    "first_clash",
    "first_outside",
    "footprint",
    "forbidden_cuts",
    "hang_of",
    "imbalance_of",
    "in_any_case",
    "inside",
    "is_inside",
    "iterations_of",
    "longest_trip",
    "loop_rows",
    "may_be_one",
    "may_meet",
    "mean_with_range",
    "merge_violation",
    "model_of",
    "model_without_elements",
    "moved_past",
    "needed_iterations",
    "only_first_values",
    "order_violation",
    "out_of_bounds",
    "overwritten",
    "overwritten_arguments",
    "pairs_of",
    "passed_on",
    "place_of",
    "position_classes",
    "read_box",
    "rebound",
    "runs_in_order",
    "runs_of",
    "same_stream",
    "scan_bounds",
    "shared_end",
    "shares_of",
    "stage_clash",
    "task_uses",
    "token_bounds",
    "trips_of",
    "unwritten",
    "updates_of",
    "values_of",
    "whole_blocks",
    "wholly_overwritten",
    "window",
    "writes_again",
    "writes_seen",
]
