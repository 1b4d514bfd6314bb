// How Python makes a recorder and reads what it has kept.
#include "Trace.h"

#define ALLO_EXPORT extern "C" __attribute__((visibility("default")))

using mlir::allo::Recorder;

ALLO_EXPORT Recorder *allo_trace_new() { return new Recorder; }

ALLO_EXPORT void allo_trace_delete(Recorder *recorder) { delete recorder; }

/// How many processes, events, channels, and edges there are.
ALLO_EXPORT void allo_trace_sizes(const Recorder *recorder, int64_t *sizes) {
  sizes[0] = static_cast<int64_t>(recorder->processes.size());
  sizes[1] = 0;
  for (const auto &process : recorder->processes)
    sizes[1] += static_cast<int64_t>(process->events.size()) / 4;
  sizes[2] = static_cast<int64_t>(recorder->channels.size());
  sizes[3] = static_cast<int64_t>(recorder->edges.size()) / 3;
}

/// Of each process its task, site, cycles and number of events; of each event its end, the clock, the
/// cycles after it, and the interval of its iterations; all edges.
ALLO_EXPORT void allo_trace_read(const Recorder *recorder, int64_t *processes, int64_t *events, int64_t *edges) {
  for (const auto &process : recorder->processes) {
    *processes++ = process->task;
    *processes++ = process->site;
    *processes++ = process->clock;
    *processes++ = static_cast<int64_t>(process->events.size()) / 4;
    for (int64_t value : process->events)
      *events++ = value;
  }
  for (int64_t value : recorder->edges)
    *edges++ = value;
}

/// The name by which the run-time library knows a channel, and the task that has made it.
ALLO_EXPORT const char *allo_trace_channel(const Recorder *recorder, int64_t number, int64_t *task) {
  const mlir::allo::TracedChannel &channel = recorder->channels[static_cast<size_t>(number)];
  *task = channel.task;
  return channel.name.c_str();
}
