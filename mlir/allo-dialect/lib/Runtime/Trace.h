// What a timed run keeps: puts, gets and looks of each process, at cycles that the machine code tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mlir::allo {
/// What is done at a stream; a peek waits for the element that the next get takes, and leaves it there.
enum class StreamUse : int64_t { get, put, peek };
constexpr int64_t kUses = 3;

/// What runs in its own time: a task, or a stretch of the function that starts tasks, up to where it waits for them.
struct TracedProcess {
  int64_t number, task, site; // the site is given by the machine code; -1 before
  int64_t clock = 0;          // the cycles that it has taken so far if it never waited
  std::vector<int64_t> events; // channel * kUses + use; clock, cycles after it, interval
};

/// A FIFO, and the task that has made it.
struct TracedChannel {
  std::string name;
  int64_t task;
};

/// All processes and channels of a call. Processes of one task, in order of numbers, run one after the other.
class Recorder {
public:
  TracedProcess *root() { return processes.empty() ? add(tasks++, -1) : processes.front().get(); }

  /// A task that begins when the process that starts it has come so far, and the tasks `after` have ended.
  TracedProcess *spawn(const TracedProcess &starter, const std::vector<int64_t> &after) {
    TracedProcess *made = add(tasks++, -1);
    edges.insert(edges.end(), {made->number, 0, starter.number});
    for (int64_t task : after)
      edges.insert(edges.end(), {made->number, 1, task});
    return made;
  }

  /// What goes on where `before` waits for tasks.
  TracedProcess *follow(const TracedProcess &before, const std::vector<int64_t> &after) {
    TracedProcess *made = add(before.task, before.site);
    edges.insert(edges.end(), {made->number, 0, before.number});
    for (int64_t task : after)
      edges.insert(edges.end(), {made->number, 1, task});
    return made;
  }

  int64_t addChannel(const std::string &name, const TracedProcess &maker) {
    channels.push_back({name, maker.task});
    return static_cast<int64_t>(channels.size()) - 1;
  }

  std::vector<std::unique_ptr<TracedProcess>> processes;
  std::vector<TracedChannel> channels;
  std::vector<int64_t> edges; // process, whether after a task (else after a process), its number

private:
  TracedProcess *add(int64_t task, int64_t site) {
    processes.push_back(std::make_unique<TracedProcess>());
    TracedProcess &made = *processes.back();
    made.number = static_cast<int64_t>(processes.size()) - 1;
    made.task = task;
    made.site = site;
    return &made;
  }

  int64_t tasks = 0;
};
} // namespace mlir::allo
