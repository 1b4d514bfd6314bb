"""place_arguments: arrays from outside lie in channels of HBM or DDR, with as few bytes through each as may be."""

from __future__ import annotations

import re
from math import prod

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import string_attr
from ..ir.effects import Effects
from ..ir.mlir_types import from_mlir
from ..ir.states import Draft
from ..ir.types import TensorType
from ..ir.walk import argument_names, entry_block
from ..ir.words import container_bits
from .array.channels import ChannelPlan, ChannelUser, channel_plan
from .bind import mark_argument
from .step.handles import Buffer
from .step.primitive import primitive
from .step.record import Decided
from .step.resolve import buffer_note, find_buffer

CHANNEL = "allo.x_channel"
_BANK = re.compile(r"[A-Za-z]\w*\[\d+(:\d+)?\]", re.ASCII)


@primitive(whole_module=True)
def place_arguments(
    module: Draft,
    target: str = "u280",
    memory: str = "HBM",
    arguments: tuple[Buffer, ...] | None = None,
    channels: tuple[str, ...] | None = None,
) -> Decided[ChannelPlan | None]:
    """Put `arguments`, or all arrays that the entry takes, into channels of a kind of `memory` beside `target`.

        f(A: T[n], B: T[n])   ->   f(A: T[n] in HBM[0], B: T[n] in HBM[1])

    A call moves the bytes of what it reads, and those of what it writes. The argument that moves most goes first, each
    to the channels through which least goes by then, of those that have room: several that lie side by side if it is
    larger than one. Projects of Vitis link the ports so, unless `configs["hbm_mapping"]` says otherwise; elsewhere it
    has no effect, and values never change. What a kernel returns is not among the arguments.
    Returns the places, with the bytes that the fullest channel moves and the least that it could (`ChannelPlan`). The
    step records `arguments` and `channels`: repeated, it computes nothing and returns None; you may give both yourself,
    channels such as "HBM[3]", "HBM[4:5]" or "DDR[0]".
    Refused: a memory whose channels the target does not describe; no room; arrays that are no arguments of the entry.
    Source: StreamTensor, sections 1.3.2 and 5.3; Vitis, `--connectivity.sp`.
    """
    if (arguments is None) != (channels is None) or len(arguments or ()) != len(channels or ()):
        raise ScheduleError(
            "arguments= and channels= are given together, a channel for each argument",
            hint='s.place_arguments(arguments=["A"], channels=["HBM[0]"])',
        )
    plan = None
    if arguments is None or channels is None:
        plan = _planned(module, target, memory)
        arguments = tuple(Buffer(module.top, place.user.array) for place in plan.places)
        channels = tuple(place.bank for place in plan.places)
    for array, channel in zip(arguments, channels, strict=True):
        value = find_buffer(module, array)
        if array.function != module.top or not isinstance(value.owner, ir.Block):
            raise ScheduleError(
                f"'{array}' is no argument of '{module.top}', and only those are in memory beside the chip",
                hint="place_arrays() is for arrays on the chip",
                notes=[buffer_note(array, value)],
            )
        if _BANK.fullmatch(channel) is None:
            raise ScheduleError(
                f"the channel of '{array.name}' is called HBM[0], HBM[2:3] or DDR[1], got {channel!r}"
            )
        number = ir.BlockArgument(value).arg_number
        mark_argument(module.function(module.top).operation, number, CHANNEL, string_attr(channel))
    return Decided({"arguments": arguments, "channels": channels}, plan)


def _planned(module: Draft, target: str, memory: str) -> ChannelPlan:
    from ..target import load_target  # which `import allo` does not need

    device = load_target(target)
    known = {name: kind for name, kind in device.external.items() if kind.channels}
    if memory not in known:
        raise ScheduleError(
            f"target '{device.name}' describes no channels of '{memory}'",
            hint=f"it has {', '.join(known)}" if known else "take u280 or u55c",
        )
    kind = known[memory]
    return channel_plan(_users(module), device.name, memory, kind.channels, kind.megabytes * 2**20)


def _users(module: Draft) -> list[ChannelUser]:
    """The arrays that the entry takes, with their bytes."""
    function = module.function(module.top)
    entry = entry_block(function)
    if entry is None:
        raise ScheduleError(f"the body of '{module.top}' is not in the module")
    effects = Effects(module).summary(module.top)
    found = []
    for n, (name, value) in enumerate(zip(argument_names(function), entry.arguments, strict=True)):
        tensor = from_mlir(value.type)
        if isinstance(tensor, TensorType) and isinstance(value.type, ir.MemRefType):
            size = -(-prod(tensor.shape) * container_bits(tensor.element) // 8)
            own = [effect for effect in effects if effect.operand == n and not effect.symbol]
            ways = any(effect.reads for effect in own) + any(effect.writes for effect in own)
            found.append(ChannelUser(name, size, size * ways))
    if not found:
        raise ScheduleError(f"'{module.top}' takes no arrays")
    return found
