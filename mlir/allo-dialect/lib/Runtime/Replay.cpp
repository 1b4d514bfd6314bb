// When the events of a trace happen: processes go on until they wait, each in turn (allo/dataflow/replay.py has the rules).
#include <algorithm>
#include <cstdint>
#include <vector>

#define ALLO_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
constexpr int64_t kNever = -2; // of an event that needs one which does not exist
constexpr int64_t kNotYet = -1;

/// A trace, as arrays of Python: process `p` does the events from `bounds[p]` up to `bounds[p + 1]` and begins when those
/// in `after` from `afterBounds[p]` up to `afterBounds[p + 1]` have ended.
struct GivenTrace {
  int64_t processes, latency;
  const int64_t *bounds, *needs, *cycles, *lengths, *afterBounds, *after;
};

/// What becomes of it. All is -1 at first; `places` are the events that processes have come to.
struct FoundTimes {
  int64_t *times, *begins, *ends, *places;
};

class Replay {
public:
  Replay(const GivenTrace &trace, const FoundTimes &found)
      : trace(trace), found(found), late(trace.processes, 0), missing(trace.processes, 0), followers(trace.processes),
        sleepers(trace.bounds[trace.processes], kNotYet) {}

  void run() {
    for (int64_t process = trace.processes; process-- > 0;) {
      found.places[process] = trace.bounds[process];
      for (int64_t at = trace.afterBounds[process]; at < trace.afterBounds[process + 1]; ++at) {
        followers[trace.after[at]].push_back(process);
        ++missing[process];
      }
      if (missing[process] == 0)
        begin(process);
    }
    while (!ready.empty()) {
      int64_t process = ready.back();
      ready.pop_back();
      if (!goOn(process))
        continue;
      int64_t end = found.ends[process] = late[process] + trace.lengths[process];
      for (int64_t follower : followers[process]) {
        late[follower] = std::max(late[follower], end);
        if (--missing[follower] == 0)
          begin(follower);
      }
    }
  }

private:
  void begin(int64_t process) {
    found.begins[process] = late[process];
    ready.push_back(process);
  }

  /// Does all that a process can do now; whether it has come to its end.
  bool goOn(int64_t process) {
    int64_t event = found.places[process], end = trace.bounds[process + 1], by = late[process];
    for (; event < end; ++event) {
      int64_t needed = trace.needs[event];
      if (needed >= 0) {
        int64_t known = found.times[needed];
        if (known < 0) {
          sleepers[needed] = process;
          break;
        }
        by = std::max(by, known + trace.latency - trace.cycles[event]);
      } else if (needed == kNever) {
        break;
      }
      found.times[event] = trace.cycles[event] + by;
      if (sleepers[event] >= 0)
        ready.push_back(sleepers[event]);
    }
    found.places[process] = event;
    late[process] = by;
    return event == end;
  }

  const GivenTrace &trace;
  const FoundTimes &found;
  std::vector<int64_t> late, missing;
  std::vector<std::vector<int64_t>> followers;
  std::vector<int64_t> sleepers; // of an event, the process that waits for it
  std::vector<int64_t> ready;
};
} // namespace

ALLO_EXPORT void allo_replay(const GivenTrace *trace, const FoundTimes *found) { Replay(*trace, *found).run(); }
