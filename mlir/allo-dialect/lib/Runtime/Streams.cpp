// What streams are on a CPU: FIFOs without bound, which live until their block, or else the call of the kernel, ends.
#include "Calls.h"
#include "ParallelFor.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#define ALLO_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
/// A ring of elements of one size; it grows and is never full.
struct Stream {
  const char *name; // with the extents if it is in an array, such as "pipe[4][5]"
  int64_t index;    // in the array, row by row
  int64_t bytes;    // of an element
  char *data = nullptr;
  int64_t capacity = 0, head = 0, count = 0; // in elements; the capacity is a power of two
  Stream *previous = nullptr, *next = nullptr;

  char *at(int64_t position) { return data + ((head + position) & (capacity - 1)) * bytes; }

  void grow() {
    int64_t larger = capacity ? 2 * capacity : 8;
    char *moved = static_cast<char *>(std::malloc(larger * bytes));
    if (!moved)
      std::abort();
    for (int64_t position = 0; position < count; ++position)
      std::memcpy(moved + position * bytes, at(position), bytes);
    std::free(data);
    data = moved;
    capacity = larger;
    head = 0;
  }
};

/// One call of a kernel on this thread: the streams that are alive, and what went wrong.
struct Call {
  Stream *alive = nullptr;
  std::string message;
};

thread_local Call *current = nullptr;
std::mutex failureMutex;
std::string failureInParallel; // of a part of a parallel loop, which cannot be left from inside

/// "pipe" or "pipe[1, 2]".
std::string describe(const Stream &stream) {
  std::string name = stream.name;
  size_t bracket = name.find('[');
  if (bracket == std::string::npos)
    return name;
  std::string subscripts;
  int64_t rest = stream.index;
  for (size_t end = name.size(); end > bracket;) { // from the last extent to the first
    size_t begin = name.rfind('[', end - 1);
    int64_t extent = std::atoll(name.c_str() + begin + 1);
    subscripts = std::to_string(rest % extent) + (subscripts.empty() ? "" : ", ") + subscripts;
    rest /= extent;
    end = begin;
  }
  return name.substr(0, bracket) + "[" + subscripts + "]";
}

Stream *make(int64_t bytes, const char *name, int64_t index) {
  auto *stream = new Stream{name, index, bytes};
  if (current) {
    stream->next = current->alive;
    if (stream->next)
      stream->next->previous = stream;
    current->alive = stream;
  }
  return stream;
}

void destroy(Stream *stream) {
  if (stream->previous)
    stream->previous->next = stream->next;
  else if (current && current->alive == stream)
    current->alive = stream->next;
  if (stream->next)
    stream->next->previous = stream->previous;
  std::free(stream->data);
  delete stream;
}

Stream *of(int64_t handle) { return reinterpret_cast<Stream *>(handle); }

/// Leaves the kernel if that is possible from here; the strings are gone before the jump.
void fail(const Stream &stream) {
  {
    std::string message = "stream '" + describe(stream) + "' is empty, and nothing will be put into it any more";
    if (!current || mlir::allo::isInsideParallelJob()) {
      std::lock_guard<std::mutex> guard(failureMutex);
      failureInParallel = message;
      return;
    }
    current->message = message;
  }
  mlir::allo::leave();
}
} // namespace

ALLO_EXPORT int64_t allo_stream_new(int64_t bytes, int64_t name) {
  return reinterpret_cast<int64_t>(make(bytes, reinterpret_cast<const char *>(name), 0));
}

ALLO_EXPORT void allo_streams_new(int64_t handles, int64_t count, int64_t bytes, int64_t name) {
  for (int64_t index = 0; index < count; ++index)
    reinterpret_cast<int64_t *>(handles)[index] =
        reinterpret_cast<int64_t>(make(bytes, reinterpret_cast<const char *>(name), index));
}

ALLO_EXPORT void allo_stream_delete(int64_t handle) { destroy(of(handle)); }

ALLO_EXPORT void allo_streams_delete(int64_t handles, int64_t count) {
  for (int64_t index = 0; index < count; ++index)
    destroy(of(reinterpret_cast<int64_t *>(handles)[index]));
}

ALLO_EXPORT void allo_stream_put(int64_t handle, int64_t value) {
  Stream *stream = of(handle);
  if (stream->count == stream->capacity)
    stream->grow();
  std::memcpy(stream->at(stream->count), reinterpret_cast<const void *>(value), stream->bytes);
  ++stream->count;
}

ALLO_EXPORT void allo_stream_get(int64_t handle, int64_t value) {
  Stream *stream = of(handle);
  if (stream->count == 0) {
    fail(*stream);
    std::memset(reinterpret_cast<void *>(value), 0, stream->bytes);
    return;
  }
  std::memcpy(reinterpret_cast<void *>(value), stream->at(0), stream->bytes);
  stream->head = (stream->head + 1) & (stream->capacity - 1);
  --stream->count;
}

ALLO_EXPORT int64_t allo_stream_empty(int64_t handle) { return of(handle)->count == 0; }

/// A put never waits here.
ALLO_EXPORT int64_t allo_stream_full(int64_t) { return 0; }

/// Calls function(arguments), frees the streams that are left, and says what went wrong: a text that the caller must
/// give to `allo_stream_free_message`, or null.
ALLO_EXPORT char *allo_stream_call(void (*function)(void *), void *arguments) {
  Call call;
  Call *outer = current;
  current = &call;
  bool isWhole = mlir::allo::runUntilLeft(function, arguments);
  while (call.alive)
    destroy(call.alive);
  current = outer;
  if (!isWhole && call.message.empty()) // it was stopped, or a check has failed
    mlir::allo::leave();
  if (call.message.empty()) {
    std::lock_guard<std::mutex> guard(failureMutex);
    call.message.swap(failureInParallel);
  }
  return call.message.empty() ? nullptr : strdup(call.message.c_str());
}

ALLO_EXPORT void allo_stream_free_message(char *message) { std::free(message); }
