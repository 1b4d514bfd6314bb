// Decides how the iterations of a parallel loop are spread over threads: equal chunks, taken in turn by one pool per
// process. A thread that comes late finds nothing left to do, and nobody waits for it.
#include "ParallelFor.h"

#include "Calls.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <vector>

#define ALLO_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
using Task = void (*)(void *context, int64_t lo, int64_t hi);

constexpr int64_t kChunksPerThread = 4;
constexpr int kLooks = 4000; // at what another thread does, for up to 0.2 ms, before this one sleeps

struct Job {
  Task task;
  void *context;
  int64_t lo, hi, step;
  bool isStoppable;                         // by Ctrl-C
  mutable std::atomic<bool> wasLeft{false}; // by one of its chunks
  mutable std::atomic<int64_t> taken{0};    // chunks

  /// Runs the chunks that no other thread has taken, until none is left.
  void runChunks(unsigned threads) const {
    int64_t trips = (hi - lo + step - 1) / step;
    int64_t chunks = std::min<int64_t>(trips, threads * kChunksPerThread);
    auto bound = [&](int64_t chunk) {
      return trips / chunks * chunk + std::min(chunk, trips % chunks);
    };
    for (int64_t chunk; !wasLeft && (chunk = taken++) < chunks;)
      runPart(lo + bound(chunk) * step, std::min(hi, lo + bound(chunk + 1) * step));
  }

private:
  void runPart(int64_t first, int64_t last) const {
    Part part{this, first, last};
    bool isWhole = mlir::allo::runUntilLeft(
        [](void *argument) {
          auto *part = static_cast<Part *>(argument);
          part->job->task(part->job->context, part->first, part->last);
        },
        &part);
    if (!isWhole)
      wasLeft = true;
  }

  struct Part {
    const Job *job;
    int64_t first, last;
  };
};

/// Looks whether `done` holds, for a short time.
template <class Done> void lookFor(Done done) {
  for (int look = 0; look < kLooks && !done(); ++look)
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

unsigned threadCount() {
  if (const char *text = std::getenv("ALLO_NUM_THREADS")) {
    int wanted = std::atoi(text);
    if (wanted >= 1)
      return static_cast<unsigned>(std::min(wanted, 1024));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

/// Set while this thread runs a part of a job: loops nested in it run in place.
thread_local bool insideJob = false;

/// The threads; never destroyed, so that they may sleep when the process exits.
class Pool {
public:
  explicit Pool(unsigned threads) {
    sigset_t all, before;
    sigfillset(&all); // signals are for the threads of the program
    sigdelset(&all, mlir::allo::kStopWorker);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (parts < threads && startWorker(new Worker{this, parts}))
      ++parts;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  unsigned threads() const { return parts; }

  void signal(int number) const {
    for (pthread_t worker : workers)
      pthread_kill(worker, number);
  }

  /// Runs the job on all threads, this one included; false if there is one only, or another thread has the pool.
  bool run(const Job &job) {
    if (parts == 1)
      return false;
    std::unique_lock<std::mutex> owner(busy, std::try_to_lock);
    if (!owner)
      return false;
    leaveProcessor();
    {
      std::lock_guard<std::mutex> guard(mutex);
      current = &job;
      ++generation;
    }
    started.notify_all();
    insideJob = true;
    job.runChunks(parts);
    insideJob = false;
    {
      std::lock_guard<std::mutex> guard(mutex);
      current = nullptr; // whoever comes now is too late
    }
    lookFor([this] { return active == 0; });
    std::unique_lock<std::mutex> guard(mutex);
    finished.wait(guard, [this] { return active == 0; });
    return true;
  }

private:
  struct Worker {
    Pool *pool;
    unsigned index;
  };

  /// Keeps the workers off the processor that this thread is on. Schedulers wake a thread where it was woken from, and
  /// leave it there for milliseconds: the two then take turns while another processor idles.
  void leaveProcessor() {
#if defined(__linux__)
    int here = sched_getcpu();
    cpu_set_t others;
    if (here < 0 || here == avoided || sched_getaffinity(0, sizeof others, &others) != 0)
      return;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) == 0)
      return; // this thread may be nowhere else
    for (pthread_t worker : workers)
      pthread_setaffinity_np(worker, sizeof others, &others);
    avoided = here;
#endif
  }

  /// False when the system has no thread to give; the pool is then smaller.
  bool startWorker(Worker *worker) {
    auto entry = [](void *argument) -> void * {
      auto *self = static_cast<Worker *>(argument);
      self->pool->work(self->index);
      return nullptr;
    };
    pthread_t thread;
    if (pthread_create(&thread, nullptr, entry, worker) == 0) {
      pthread_detach(thread);
      workers.push_back(thread);
      return true;
    }
    delete worker;
    return false;
  }

  void work(unsigned index) {
    insideJob = true;
    uint64_t seen = 0;
    while (true) {
      lookFor([&] { return generation != seen; });
      const Job *job;
      {
        std::unique_lock<std::mutex> guard(mutex);
        started.wait(guard, [&] { return generation != seen; });
        seen = generation;
        job = current;
        if (!job)
          continue;
        ++active;
      }
      {
        mlir::allo::Stoppable here(job->isStoppable);
        job->runChunks(parts);
      }
      std::lock_guard<std::mutex> guard(mutex);
      if (--active == 0)
        finished.notify_one();
    }
  }

  unsigned parts = 1; // the calling thread and the workers
  std::vector<pthread_t> workers; // as they were when the pool was made
  int avoided = -1; // the processor that they are kept off
  std::mutex busy;  // held by the thread whose job runs
  std::mutex mutex; // protects all below
  std::condition_variable started, finished;
  const Job *current = nullptr;
  std::atomic<unsigned> active{0};     // workers that run chunks of the job
  std::atomic<uint64_t> generation{0}; // changes with the job
};

std::mutex creation;
std::atomic<Pool *> pool{nullptr};

/// The pool, started at the first call. A child of fork() has none of its parent's threads and starts its own.
Pool &thePool() {
  if (Pool *known = pool.load(std::memory_order_acquire))
    return *known;
  std::lock_guard<std::mutex> guard(creation);
  if (Pool *known = pool.load(std::memory_order_acquire))
    return *known;
  static bool registered = false;
  if (!registered) {
    registered = true;
    pthread_atfork([] { creation.lock(); }, [] { creation.unlock(); },
                   [] {
                     pool.store(nullptr);
                     insideJob = false;
                     creation.unlock();
                   });
  }
  pool.store(new Pool(threadCount()), std::memory_order_release);
  return *pool.load();
}
} // namespace

bool mlir::allo::isInsideParallelJob() { return insideJob; }

void mlir::allo::signalWorkers() {
  if (Pool *known = pool.load(std::memory_order_acquire))
    known->signal(kStopWorker);
}

/// Returns when all are done. Nested calls, and calls while another thread uses the pool, run in place.
ALLO_EXPORT void allo_parallel_for(Task task, void *context, int64_t lo, int64_t hi, int64_t step) {
  if (lo >= hi)
    return;
  Job job{task, context, lo, hi, step, mlir::allo::isStoppable()};
  if (insideJob || lo + step >= hi || !thePool().run(job))
    task(context, lo, hi);
  else if (job.wasLeft)
    mlir::allo::leave();
}

/// Number of threads that a parallel loop uses (ALLO_NUM_THREADS, read at the first parallel loop).
ALLO_EXPORT int allo_num_threads() {
  Pool *known = pool.load(std::memory_order_acquire);
  return static_cast<int>(known ? known->threads() : threadCount());
}
