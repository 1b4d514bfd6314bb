// What streams and tasks are on a CPU: FIFOs that hold their depth, and fibers that take turns where they have to wait.
//
// A kernel that uses streams is called by `allo_stream_call`. FIFOs live until their block, or else the call, ends.
#include "../../../../lib/templates/hls/include/allo_sim/fibers.cpp"
#include "Calls.h"
#include "ParallelFor.h"
#include "Trace.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#define ALLO_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
constexpr size_t kStackBytes = 8 << 20; // as of a thread, since external kernels run on them too

/// A ring of elements of one size, which grows up to the depth.
struct Stream : allo_sim::fifo_state {
  int64_t bytes; // of an element
  char *data = nullptr;
  size_t capacity = 0, head = 0; // in elements; the capacity is a power of two
  Stream *previous = nullptr, *next = nullptr;
  int64_t channel = -1; // its number in a trace

  Stream(std::string label, int64_t bytes, int64_t depth)
      : fifo_state(static_cast<size_t>(depth)), bytes(bytes) {
    name = std::move(label);
  }

  char *at(size_t position) { return data + ((head + position) & (capacity - 1)) * bytes; }

  void append(const void *value, allo_sim::fiber &by, uint32_t site) {
    if (count == capacity)
      grow();
    std::memcpy(at(count), value, bytes);
    has_put(by, site);
  }

  void take(void *value, allo_sim::fiber &by, uint32_t site) {
    std::memcpy(value, at(0), bytes);
    head = (head + 1) & (capacity - 1);
    has_got(by, site);
  }

  void grow() {
    size_t larger = capacity ? 2 * capacity : 8;
    char *moved = static_cast<char *>(std::malloc(larger * bytes));
    if (!moved)
      std::abort();
    for (size_t position = 0; position < count; ++position)
      std::memcpy(moved + position * bytes, at(position), bytes);
    std::free(data);
    data = moved;
    capacity = larger;
    head = 0;
  }
};

/// The tasks of one dataflow region, and for the next of them the numbers of those that must end before.
struct Region {
  allo_sim::group tasks;
  std::vector<size_t> after;
  std::vector<std::unique_ptr<char[]>> arguments;
  std::vector<int64_t> traced; // what the trace calls the tasks
  allo_sim::task_name last; // that of the task that was added last
};

/// Which of several threads runs each task of the region that a kernel is: by the number of its statement, where the
/// owners of its elements begin; -1 for other statements, whose tasks run where they are started.
struct Owners {
  const int64_t *offsets;
  int64_t statements;
  const int32_t *parts;

  int32_t of(const allo_sim::task_name &task) const {
    bool isOwned = task.statement >= 0 && task.statement < statements && offsets[task.statement] >= 0;
    return isOwned ? parts[offsets[task.statement] + task.element] : -1;
  }
};

/// What is alive in a call of a kernel on this thread, or in what a thread of the pool does.
struct StreamCall final : allo_sim::scheduler {
  Stream *alive = nullptr;
  std::vector<std::unique_ptr<Region>> regions;
  void *escape = nullptr; // where leaving leads to, on the thread's own stack
  mlir::allo::Recorder *recorder = nullptr; // of a timed run
  const Owners *owners = nullptr; // of a call on several threads
  int32_t part = 0;               // of it that this one is

  StreamCall() : scheduler(kStackBytes) {}
  mlir::allo::TracedProcess *&traced() { return *reinterpret_cast<mlir::allo::TracedProcess **>(&running_fiber().attached); }
  bool isElsewhere(const allo_sim::task_name &task) const {
    int32_t owner = owners ? owners->of(task) : -1;
    return owner >= 0 && owner != part;
  }
  bool can_leave() const override { return owners || !mlir::allo::isInsideParallelJob(); } // a part of a loop cannot be left
  [[noreturn]] void leave() override { mlir::allo::leave(); }
};

thread_local StreamCall *current = nullptr;
thread_local mlir::allo::Recorder *wanted = nullptr; // by the call that begins next
std::mutex reportMutex;
std::string reportOfParallel;
thread_local std::string stateOfStopped;

/// The call of this thread; one of the pool has a call that stays.
StreamCall &here() {
  if (!current) {
    static thread_local StreamCall ofThread;
    current = &ofThread;
  }
  return *current;
}

/// Keeps what happened in a part of a parallel loop for the call that the loop is in.
void noteParallel() {
  if (here().can_leave() || !(here().hung() || here().has_left_over()))
    return;
  std::lock_guard<std::mutex> guard(reportMutex);
  reportOfParallel = here().report();
}

/// A FIFO called `name`, and "name 5" if it is element 5 of an array; the caller of the kernel knows what that is.
Stream *make(int64_t bytes, int64_t depth, const char *name, int64_t index) {
  std::string label = name;
  if (index >= 0)
    label += " " + std::to_string(index);
  auto *stream = new Stream(std::move(label), bytes, depth);
  StreamCall &call = here();
  call.enrol(*stream);
  stream->next = call.alive;
  if (stream->next)
    stream->next->previous = stream;
  call.alive = stream;
  if (call.recorder)
    stream->channel = call.recorder->addChannel(stream->name, *call.traced());
  return stream;
}

/// Ends a FIFO, which was to be empty if its block or call has come to its end.
void destroy(Stream *stream, bool isRegular = true) {
  StreamCall &call = here();
  if (!isRegular)
    stream->count = 0;
  if (stream->previous)
    stream->previous->next = stream->next;
  else if (call.alive == stream)
    call.alive = stream->next;
  if (stream->next)
    stream->next->previous = stream->previous;
  call.forget(*stream);
  noteParallel();
  std::free(stream->data);
  delete stream;
}

Stream *of(int64_t handle) { return reinterpret_cast<Stream *>(handle); }

std::vector<int64_t> tracedTasks(const Region &region, const std::vector<size_t> &numbers) {
  std::vector<int64_t> found;
  for (size_t number : numbers)
    found.push_back(region.traced[number]);
  return found;
}

/// Notes that the running process uses a stream `at` cycles after its clock, in iterations `interval` cycles apart.
void note(int64_t handle, mlir::allo::StreamUse use, int64_t at, int64_t interval) {
  StreamCall &call = here();
  if (!call.recorder)
    return;
  auto &process = *call.traced();
  process.events.push_back(of(handle)->channel * mlir::allo::kUses + static_cast<int64_t>(use));
  process.events.push_back(process.clock);
  process.events.push_back(at);
  process.events.push_back(interval);
}
} // namespace

ALLO_EXPORT int64_t allo_stream_new(int64_t bytes, int64_t depth, int64_t name) {
  return reinterpret_cast<int64_t>(make(bytes, depth, reinterpret_cast<const char *>(name), -1));
}

ALLO_EXPORT void allo_streams_new(int64_t handles, int64_t count, int64_t bytes, int64_t depth, int64_t name) {
  for (int64_t index = 0; index < count; ++index)
    reinterpret_cast<int64_t *>(handles)[index] =
        reinterpret_cast<int64_t>(make(bytes, depth, reinterpret_cast<const char *>(name), index));
}

ALLO_EXPORT void allo_stream_delete(int64_t handle) { destroy(of(handle)); }

/// Ends a FIFO that may have elements in it, such as the credits of a pool of buffers.
ALLO_EXPORT void allo_stream_drop(int64_t handle) { destroy(of(handle), false); }

ALLO_EXPORT void allo_streams_delete(int64_t handles, int64_t count) {
  for (int64_t index = 0; index < count; ++index)
    destroy(of(reinterpret_cast<int64_t *>(handles)[index]));
}

ALLO_EXPORT void allo_streams_drop(int64_t handles, int64_t count) {
  for (int64_t index = 0; index < count; ++index)
    destroy(of(reinterpret_cast<int64_t *>(handles)[index]), false);
}

/// Appends the element at `value`; `site` is the number of the put in the program.
ALLO_EXPORT void allo_stream_put(int64_t handle, int64_t value, int64_t site) {
  Stream *stream = of(handle);
  StreamCall &call = here();
  auto place = static_cast<uint32_t>(site);
  if (stream->is_full()) {
    call.wait_for_room(*stream, place);
    noteParallel();
  }
  stream->append(reinterpret_cast<const void *>(value), call.running_fiber(), place);
}

/// Takes the oldest element, into `value`; `site` is the number of the get in the program.
ALLO_EXPORT void allo_stream_get(int64_t handle, int64_t value, int64_t site) {
  Stream *stream = of(handle);
  StreamCall &call = here();
  auto place = static_cast<uint32_t>(site);
  if (stream->count == 0 && !call.wait_for_element(*stream, place)) {
    noteParallel();
    std::memset(reinterpret_cast<void *>(value), 0, stream->bytes);
    return;
  }
  stream->take(reinterpret_cast<void *>(value), call.running_fiber(), place);
}

ALLO_EXPORT void allo_stream_peek(int64_t handle, int64_t value, int64_t site) {
  Stream *stream = of(handle);
  if (!here().look(*stream, static_cast<uint32_t>(site))) {
    noteParallel();
    std::memset(reinterpret_cast<void *>(value), 0, stream->bytes);
    return;
  }
  std::memcpy(reinterpret_cast<void *>(value), stream->at(0), stream->bytes);
}

ALLO_EXPORT int64_t allo_stream_try_put(int64_t handle, int64_t value, int64_t site) {
  Stream *stream = of(handle);
  if (stream->is_full() && here().is_full(*stream))
    return 0;
  stream->append(reinterpret_cast<const void *>(value), here().running_fiber(), static_cast<uint32_t>(site));
  return 1;
}

ALLO_EXPORT int64_t allo_stream_try_get(int64_t handle, int64_t value, int64_t site) {
  Stream *stream = of(handle);
  if (stream->count == 0 && here().is_empty(*stream)) {
    std::memset(reinterpret_cast<void *>(value), 0, stream->bytes);
    return 0;
  }
  stream->take(reinterpret_cast<void *>(value), here().running_fiber(), static_cast<uint32_t>(site));
  return 1;
}

ALLO_EXPORT int64_t allo_stream_empty(int64_t handle) { return here().is_empty(*of(handle)); }

ALLO_EXPORT int64_t allo_stream_full(int64_t handle) { return here().is_full(*of(handle)); }

/// Begins a dataflow region: its tasks take turns until `allo_region_end`, where all have ended.
ALLO_EXPORT int64_t allo_region_begin() {
  StreamCall &call = here();
  call.regions.push_back(std::make_unique<Region>());
  return reinterpret_cast<int64_t>(call.regions.back().get());
}

/// Lets the task that is spawned next begin when `count` tasks from number `first` on have ended.
ALLO_EXPORT void allo_region_after(int64_t region, int64_t first, int64_t count) {
  for (int64_t number = first; number < first + count; ++number)
    reinterpret_cast<Region *>(region)->after.push_back(static_cast<size_t>(number));
}

/// Adds the task function(arguments), with a copy of the arguments; `statement` is the number of its statement in the
/// program, whose tasks are added one after the other.
ALLO_EXPORT void allo_region_spawn(int64_t handle, void (*function)(void *), const void *arguments, int64_t bytes,
                                   int64_t statement) {
  auto *region = reinterpret_cast<Region *>(handle);
  region->arguments.push_back(std::make_unique<char[]>(bytes + 1));
  std::memcpy(region->arguments.back().get(), arguments, bytes);
  StreamCall &call = here();
  region->last = {statement, statement == region->last.statement ? region->last.element + 1 : 0};
  if (call.isElsewhere(region->last))
    call.skip(region->tasks, region->last);
  else
    call.spawn(region->tasks, function, region->arguments.back().get(), region->after, region->last);
  if (call.recorder) {
    auto *made = call.recorder->spawn(*call.traced(), tracedTasks(*region, region->after));
    region->tasks.last().attached = made;
    region->traced.push_back(made->task);
  }
  region->after.clear();
}

/// Waits for some tasks.
ALLO_EXPORT void allo_region_await(int64_t handle, int64_t first, int64_t count) {
  StreamCall &call = here();
  auto &region = *reinterpret_cast<Region *>(handle);
  std::vector<size_t> awaited;
  for (int64_t number = first; number < first + count; ++number) {
    awaited.push_back(static_cast<size_t>(number));
    call.await(region.tasks, awaited.back());
  }
  if (call.recorder)
    call.traced() = call.recorder->follow(*call.traced(), tracedTasks(region, awaited));
}

ALLO_EXPORT void allo_region_end(int64_t handle) {
  StreamCall &call = here();
  auto &joined = *reinterpret_cast<Region *>(handle);
  call.join(joined.tasks);
  if (call.recorder)
    call.traced() = call.recorder->follow(*call.traced(), joined.traced);
  for (auto region = call.regions.end(); region-- != call.regions.begin();)
    if (reinterpret_cast<int64_t>(region->get()) == handle) {
      call.regions.erase(region);
      break;
    }
}

/// What Python asks for when it calls a kernel.
struct StreamRequest {
  void (*function)(void *);
  void *arguments;
  allo_sim::progress *progress;
};

/// The same for a call on several threads, each of which runs the whole kernel but for the tasks of others.
struct PartsRequest {
  StreamRequest call;
  int64_t parts;
  Owners owners;
};

/// Makes and frees what tells another thread how far a call has come; reads elements that passed, tasks, those that ended.
ALLO_EXPORT allo_sim::progress *allo_progress_new() { return new allo_sim::progress; }
ALLO_EXPORT void allo_progress_delete(allo_sim::progress *progress) { delete progress; }
ALLO_EXPORT void allo_progress_read(const allo_sim::progress *progress, int64_t *into) {
  into[0] = static_cast<int64_t>(progress->passed.load(std::memory_order_relaxed));
  into[1] = static_cast<int64_t>(progress->tasks.load(std::memory_order_relaxed));
  into[2] = static_cast<int64_t>(progress->ended.load(std::memory_order_relaxed));
}

/// Where the last call of this thread had come to when it was stopped; empty if it was not.
ALLO_EXPORT const char *allo_stream_state() { return stateOfStopped.c_str(); }

/// Calls the function, frees what is left, and says what hung, if anything did: the lines of `report`, which the caller
/// must give to `allo_stream_free_message`, or null.
ALLO_EXPORT char *allo_stream_call(StreamRequest *asked, void *) {
  StreamRequest request = *asked;
  StreamCall call;
  call.show(request.progress);
  stateOfStopped.clear();
  StreamCall *outer = current;
  current = &call;
  call.recorder = std::exchange(wanted, nullptr);
  if (call.recorder)
    call.traced() = call.recorder->root();
  bool isWhole = mlir::allo::runUntilLeft(
      [](void *argument) {
        auto *request = static_cast<StreamRequest *>(argument);
        current->escape = mlir::allo::whereLeavingLeads();
        request->function(request->arguments);
      },
      &request);
  if (!isWhole && !call.hung())
    stateOfStopped = call.state();
  while (call.alive)
    destroy(call.alive, isWhole);
  current = outer;
  std::string report = call.report(), ofParallel;
  {
    std::lock_guard<std::mutex> guard(reportMutex);
    ofParallel.swap(reportOfParallel);
  }
  if (report.empty())
    report = ofParallel;
  if (!isWhole && report.empty()) // it was stopped, or a check has failed
    mlir::allo::leave();
  return report.empty() ? nullptr : strdup(report.c_str());
}

// -- several threads -----------------------------------------------------------------------------------------

namespace {
struct Parts {
  const PartsRequest *request;
  std::vector<char> isWhole; // not of vectors of bits, which threads cannot write side by side
  std::vector<std::string> states;
};

void runPart(Parts &parts, size_t number) {
  StreamRequest request = parts.request->call;
  StreamCall call;
  call.show(request.progress);
  call.owners = &parts.request->owners;
  call.part = static_cast<int32_t>(number);
  StreamCall *outer = current;
  current = &call;
  bool isWhole = mlir::allo::runUntilLeft(
      [](void *argument) {
        auto *request = static_cast<StreamRequest *>(argument);
        current->escape = mlir::allo::whereLeavingLeads();
        request->function(request->arguments);
      },
      &request);
  if (!isWhole)
    parts.states[number] = call.state();
  if (!isWhole) {
    mlir::allo::freeAllocated();
    mlir::allo::forgetFailure();
  }
  while (call.alive)
    destroy(call.alive, isWhole);
  parts.isWhole[number] =
      isWhole && !call.hung() && !call.has_left_over() && !mlir::allo::isBeingStopped();
  current = outer;
}

/// The states of all parts as one: the first line of the first one, and the tasks of each.
std::string joined(const std::vector<std::string> &states) {
  std::string text;
  for (const std::string &state : states)
    text += text.empty() ? state : state.substr(std::min(state.size(), state.find('\n') + 1));
  return text;
}
} // namespace

/// Calls the function on several threads; whether all was done: if not, something hung or a check failed, and a call on one
/// thread tells what.
ALLO_EXPORT int64_t allo_stream_call_parts(const PartsRequest *request, void *) {
  auto count = static_cast<size_t>(request->parts);
  Parts parts{request, std::vector<char>(count), std::vector<std::string>(count)};
  stateOfStopped.clear();
  allo_parallel_for(
      [](void *context, int64_t lo, int64_t hi) {
        for (int64_t number = lo; number < hi; ++number)
          runPart(*static_cast<Parts *>(context), static_cast<size_t>(number));
      },
      &parts, 0, request->parts, 1);
  if (mlir::allo::isBeingStopped()) {
    stateOfStopped = joined(parts.states);
    mlir::allo::leave();
  }
  return std::count(parts.isWhole.begin(), parts.isWhole.end(), 0) == 0;
}

// -- timed runs ----------------------------------------------------------------------------------------------

/// A call with what it is to be recorded by.
struct TracedCall {
  void (*function)(void *);
  void *arguments;
  mlir::allo::Recorder *recorder;
};

/// As `allo_stream_call`, with all puts and gets recorded.
ALLO_EXPORT char *allo_traced_call(const TracedCall *traced, void *) {
  wanted = traced->recorder;
  StreamRequest request{traced->function, traced->arguments, nullptr};
  return allo_stream_call(&request, nullptr);
}

ALLO_EXPORT void allo_trace_put(int64_t stream, int64_t at, int64_t interval) {
  note(stream, mlir::allo::StreamUse::put, at, interval);
}

ALLO_EXPORT void allo_trace_get(int64_t stream, int64_t at, int64_t interval) {
  note(stream, mlir::allo::StreamUse::get, at, interval);
}

ALLO_EXPORT void allo_trace_peek(int64_t stream, int64_t at, int64_t interval) {
  note(stream, mlir::allo::StreamUse::peek, at, interval);
}

/// The cycles that the running process has taken so far if it never waited.
ALLO_EXPORT int64_t allo_trace_clock() {
  StreamCall &call = here();
  return call.recorder ? call.traced()->clock : 0;
}

ALLO_EXPORT void allo_trace_set_clock(int64_t cycles) {
  StreamCall &call = here();
  if (call.recorder)
    call.traced()->clock = cycles;
}

/// Lets cycles of the running process go by.
ALLO_EXPORT void allo_trace_advance(int64_t cycles) {
  StreamCall &call = here();
  if (call.recorder)
    call.traced()->clock += cycles;
}

/// Says which statement of the program the running process is.
ALLO_EXPORT void allo_trace_site(int64_t site) {
  StreamCall &call = here();
  if (call.recorder)
    call.traced()->site = site;
}

void mlir::allo::leaveFiber() {
  if (current && current->escape == whereLeavingLeads() && current->is_on_fiber())
    current->fail();
}

ALLO_EXPORT void allo_stream_free_message(char *message) { std::free(message); }
