"""Random traces, and two slow ways to run them: cycle by cycle, and by going over all rules until nothing changes."""

from __future__ import annotations

from random import Random

from allo.dataflow.trace import Trace, TracedChannel, TracedProcess, trace_of

type Times = list[int | None]  # of each event, None if it never happens


def random_trace(seed: int, *, pipelined: bool = False) -> Trace:
    """Processes with random channels between them; in pipelines the cycles of events go back."""
    random = Random(seed)
    count, length = random.randint(2, 5), random.randint(1, 12)
    pairs = [random.sample(range(count), 2) for _ in range(random.randint(1, 6))]
    pairs = [pair if random.random() < 0.2 else sorted(pair) for pair in pairs]
    channels = [TracedChannel(f"c{n}", random.choice([0, 1, 1, 2, 3])) for n in range(len(pairs))]
    processes, events = [], []
    for process in range(count):
        steps = [(n, ends[0] == process) for n, ends in enumerate(pairs) if process in ends]
        random.shuffle(steps)
        steps.sort(key=lambda step: step[1] if random.random() < 0.9 else random.random() < 0.5)
        cycle, own = random.randint(0, 3), []
        lags = sorted(random.randint(0, 6) for _ in steps)
        for _ in range(length):
            for (channel, is_put), lag in zip(steps, lags, strict=True):
                cycle += 0 if pipelined else random.choice([0, 1, 1, 2, 5])
                own.append((channel, is_put, cycle + lag if pipelined else cycle))
            cycle += random.choice([1, 1, 2]) if pipelined else 1
        if random.random() < 0.1 and own:
            own.pop()
        last = max((cycle for _, _, cycle in own), default=0)
        after = (process - 1,) if process and random.random() < 0.1 else ()
        processes.append(TracedProcess(f"p{process}", last + random.randint(1, 3), after))
        events.append(own)
    return trace_of(processes, channels, events)


def ticked(trace: Trace, depths: list[int]) -> tuple[Times, list[int | None]]:
    """When events happen and processes end, found by looking at everything again in every cycle.

    For traces without pipelines, in which no cycle of a process goes back.
    """
    bounds = trace.bounds.tolist()
    times: Times = [None] * len(trace)
    place, clock = bounds[:-1], [0] * len(trace.processes)  # clock: the cycle of a process, which stands while it waits
    ends: list[int | None] = [None] * len(trace.processes)
    now, quiet = 0, 0
    while quiet < 40 and None in ends:
        quiet += 1
        filled = [0] * len(trace.channels)
        usable = [0] * len(trace.channels)
        for event, time in enumerate(times):
            if time is not None and time < now:
                channel = int(trace.channel[event])
                filled[channel] += 1 if trace.is_put[event] else -1
                usable[channel] += 1 if trace.is_put[event] else -1
        for number, process in enumerate(trace.processes):
            if any(ends[other] is None or ends[other] > now for other in process.after):
                continue
            waits = False
            while place[number] < bounds[number + 1] and trace.cycle[place[number]] == clock[number]:
                event = place[number]
                channel = int(trace.channel[event])
                if trace.is_put[event]:
                    waits = bool(depths[channel]) and filled[channel] >= depths[channel]
                    filled[channel] += 0 if waits else 1
                else:
                    waits = usable[channel] < 1
                    usable[channel] -= 0 if waits else 1
                if waits:
                    break
                times[event], quiet = now, 0
                place[number] += 1
            if not waits:
                quiet = 0 if clock[number] < process.length else quiet
                if clock[number] == process.length and ends[number] is None:
                    ends[number] = now
                clock[number] += 1
        now += 1
    return times, ends


def relaxed(trace: Trace, depths: list[int], horizon: int = 3000) -> tuple[Times, list[int | None]]:
    """When events happen and processes end: the least numbers for which all rules hold; beyond the horizon, never."""
    bounds = trace.bounds.tolist()
    times = [0] * len(trace)
    ends = [0] * len(trace.processes)
    number_in: dict[int, tuple[int, int]] = {}
    of: dict[tuple[int, bool], list[int]] = {}
    for event, (channel, is_put) in enumerate(zip(trace.channel.tolist(), trace.is_put.tolist(), strict=True)):
        own = of.setdefault((channel, is_put), [])
        number_in[event] = (channel, len(own))
        own.append(event)
    changed = True
    while changed:
        changed = False
        for number, process in enumerate(trace.processes):
            late = max((ends[other] for other in process.after), default=0)
            for event in range(bounds[number], bounds[number + 1]):
                channel, k = number_in[event]
                least = late + int(trace.cycle[event])
                is_put = bool(trace.is_put[event])
                needed = k - depths[channel] if is_put else k
                others = of.get((channel, not is_put), [])
                if not (is_put and depths[channel] == 0) and needed >= 0:
                    least = max(least, times[others[needed]] + 1 if needed < len(others) else horizon)
                least = min(least, horizon)
                if least > times[event]:
                    times[event], changed = least, True
                late = times[event] - int(trace.cycle[event]) if times[event] < horizon else horizon
            end = min(horizon, late + process.length)
            if end > ends[number]:
                ends[number], changed = end, True
    return [t if t < horizon else None for t in times], [t if t < horizon else None for t in ends]


def stood_still(trace: Trace, depths: list[int]) -> tuple[Times, list[int | None]]:
    """When events happen and processes end, cycle by cycle, if what waits holds up the rest only while it does."""
    assert trace.steps is not None
    bounds, times = trace.bounds.tolist(), list[int | None]([None] * len(trace))
    ends: list[int | None] = [None] * len(trace.processes)
    begins: list[int | None] = list(ends)
    late, arrivals = [0] * len(trace), [-1] * len(trace)  # cycles that earlier events have waited; when it came up
    behind = [0] * len(trace.processes)  # the same of the end
    now = quiet = 0
    while quiet < 60 and None in ends:
        quiet += 1
        level = [0] * len(trace.channels)
        for event, time in enumerate(times):
            if time is not None and time < now:
                level[int(trace.channel[event])] += 1 if trace.is_put[event] else -1
        for number, process in enumerate(trace.processes):
            if begins[number] is None and all(_is_over(ends[other], now) for other in process.after):
                begins[number] = now
            begin = begins[number]
            if begin is None or ends[number] is not None:
                continue
            waits = False
            for event in range(bounds[number], bounds[number + 1]):
                if times[event] is not None:
                    continue
                if waits:
                    late[event] += 1
                    continue
                if now - begin - late[event] < trace.cycle[event]:
                    continue
                if arrivals[event] < 0:
                    arrivals[event] = now
                channel = int(trace.channel[event])
                room = not depths[channel] or level[channel] < depths[channel]
                in_time = (now - arrivals[event]) % int(trace.steps[event]) == 0
                if in_time and (room if trace.is_put[event] else level[channel] > 0):
                    times[event], quiet = now, 0
                else:
                    waits = True
            behind[number] += waits
            events = times[bounds[number] : bounds[number + 1]]
            if None not in events and now - begin - behind[number] >= process.length:
                ends[number], quiet = now, 0
        now += 1
    return times, ends


def _is_over(end: int | None, now: int) -> bool:
    return end is not None and end <= now
