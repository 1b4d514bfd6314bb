// When the events of a trace happen: processes go on until they wait, each in turn (allo/dataflow/replay.py has the rules).
#include <algorithm>
#include <cstdint>
#include <vector>

#define ALLO_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
constexpr int64_t kNever = -2; // of an event that needs one which does not exist
constexpr int64_t kNotYet = -1;

/// A trace, as arrays of Python: process `p` does the events from `bounds[p]` up to `bounds[p + 1]` and begins when those
/// in `after` from `afterBounds[p]` up to `afterBounds[p + 1]` have ended. An event that waits tries again after so many
/// cycles as `steps` says; where there are none, a wait delays all later events.
struct GivenTrace {
  int64_t processes, latency;
  const int64_t *bounds, *needs, *cycles, *lengths, *afterBounds, *after, *steps;
};

/// What becomes of it. All is -1 at first; `places` are the events that processes have come to.
struct FoundTimes {
  int64_t *times, *begins, *ends, *places, *waits;
};

/// The cycles in which what comes later in the order of a process stands still, since something before it waits.
class StandStill {
public:
  /// The cycle of what would happen at `at` if nothing had waited.
  int64_t arrival(int64_t at) const {
    size_t low = 0, high = spans.size();
    while (low < high) { // the first span that begins behind it
      size_t middle = (low + high) / 2;
      if (spans[middle].from - spans[middle].before <= at)
        low = middle + 1;
      else
        high = middle;
    }
    return low == 0 ? at : at + spans[low - 1].before + spans[low - 1].length();
  }

  /// The first cycle, whole steps after `at`, that is not before `ready` and in which nothing before it waits.
  int64_t next(int64_t at, int64_t ready, int64_t step) const {
    int64_t cycle = at;
    for (int64_t least = ready; cycle < least;) {
      cycle = at + (least - at + step - 1) / step * step;
      if (const Span *span = holding(cycle))
        least = span->to;
    }
    return cycle;
  }

  void add(int64_t from, int64_t to) {
    if (from >= to)
      return;
    auto first = std::lower_bound(spans.begin(), spans.end(), from, [](const Span &s, int64_t f) { return s.to < f; });
    auto last = first;
    for (; last != spans.end() && last->from <= to; ++last) {
      from = std::min(from, last->from);
      to = std::max(to, last->to);
    }
    first = spans.insert(spans.erase(first, last), {from, to, 0});
    for (; first != spans.end(); ++first)
      first->before = first == spans.begin() ? 0 : (first - 1)->before + (first - 1)->length();
  }

private:
  struct Span {
    int64_t from, to, before; // the cycles of all spans before it
    int64_t length() const { return to - from; }
  };

  const Span *holding(int64_t cycle) const {
    auto found = std::upper_bound(spans.begin(), spans.end(), cycle, [](int64_t c, const Span &s) { return c < s.to; });
    return found != spans.end() && found->from <= cycle ? &*found : nullptr;
  }

  std::vector<Span> spans; // in order, with cycles between them
};

class Replay {
public:
  Replay(const GivenTrace &trace, const FoundTimes &found)
      : trace(trace), found(found), late(trace.processes, 0), missing(trace.processes, 0), followers(trace.processes),
        sleepers(trace.bounds[trace.processes], kNotYet), still(trace.steps ? trace.processes : 0) {}

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
      int64_t end = found.begins[process] + trace.lengths[process];
      end = found.ends[process] = trace.steps ? still[process].arrival(end) : late[process] + trace.lengths[process];
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
      int64_t needed = trace.needs[event], before = by;
      if (needed >= 0) {
        int64_t known = found.times[needed];
        if (known < 0) {
          sleepers[needed] = process;
          break;
        }
        if (!trace.steps)
          by = std::max(by, known + trace.latency - trace.cycles[event]);
      } else if (needed == kNever) {
        break;
      }
      if (trace.steps)
        inTime(process, event, needed >= 0 ? found.times[needed] + trace.latency : kNotYet);
      else {
        found.times[event] = trace.cycles[event] + by;
        found.waits[event] = by - before;
      }
      if (sleepers[event] >= 0)
        ready.push_back(sleepers[event]);
    }
    found.places[process] = event;
    late[process] = by;
    return event == end;
  }

  /// Lets an event happen that can from cycle `ready` on.
  void inTime(int64_t process, int64_t event, int64_t ready) {
    int64_t arrival = still[process].arrival(found.begins[process] + trace.cycles[event]);
    int64_t time = found.times[event] = still[process].next(arrival, ready, trace.steps[event]);
    found.waits[event] = time - arrival;
    still[process].add(arrival, time);
  }

  const GivenTrace &trace;
  const FoundTimes &found;
  std::vector<int64_t> late, missing;
  std::vector<std::vector<int64_t>> followers;
  std::vector<int64_t> sleepers; // of an event, the process that waits for it
  std::vector<int64_t> ready;
  std::vector<StandStill> still;
};
} // namespace

ALLO_EXPORT void allo_replay(const GivenTrace *trace, const FoundTimes *found) { Replay(*trace, *found).run(); }
