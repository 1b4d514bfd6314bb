// Fibers of one thread that take turns, and FIFOs of bounded depth between them. What they do when they wait is in
// fibers.cpp, which is compiled once a library.
#ifndef ALLO_SIM_FIBERS_H
#define ALLO_SIM_FIBERS_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stack_switch.h"

namespace allo_sim {

class scheduler;
struct fiber;

/// What reports call a fiber: the number of its statement in the program, and of its element if that has several.
struct task_name {
  std::int64_t statement = -1, element = 0;
};

/// A fiber as it is named, also after its end; `parent` is who has started it.
struct named_fiber {
  std::uint32_t number = 0, parent = 0;
  task_name name;
};

/// What a FIFO of elements of any type is to those that wait at it.
struct fifo_state {
  std::string name;
  std::size_t depth = 0;  // elements that it holds; 0: any number. After a hang more, to find out what would do
  std::size_t declared = 0;
  std::size_t count = 0;
  std::uint64_t puts = 0, gets = 0;
  fiber *reader = nullptr, *writer = nullptr;  // who waits at this end
  std::uint64_t reader_asked = ~std::uint64_t{0}, writer_asked = ~std::uint64_t{0};  // what had passed, puts and gets
  std::uint64_t *moves = nullptr;  // of the scheduler, which counts the puts and gets of all FIFOs
  std::uint32_t putter = 0, getter = 0;  // the fiber that has used this end last; 0: none has
  named_fiber put_by, got_by;            // the same with their names

  explicit fifo_state(std::size_t holds = 0) : depth(holds), declared(holds) {}
  bool is_full() const { return depth != 0 && count >= depth; }
  std::uint64_t passed() const { return puts + gets; }
  /// What follows a put, and a get, of a fiber at this place of the program.
  inline void has_put(fiber &by, std::uint32_t site);
  inline void has_got(fiber &by, std::uint32_t site);
  /// The same outside of simulations, where nobody waits.
  void has_put() { ++count, ++puts; }
  void has_got() { --count, ++gets; }
};

/// How far a run has come, for another thread to read.
struct progress {
  std::atomic<std::uint64_t> passed{0}, tasks{0}, ended{0};  // elements taken out of FIFOs; fibers
};

/// A FIFO as it was when a fiber began to wait there: it may have ended when this is read.
struct fifo_view {
  char name[24] = "";
  std::uint64_t depth = 0, puts = 0, gets = 0;
  std::uint32_t user = 0;  // the fiber that has used the other end last
};

/// A function on a stack of its own.
struct fiber {
  std::uint32_t number = 0, parent = 0;  // in the order of their starts, from 1 on
  std::uint32_t site = 0;                // the put or get at which it was last
  task_name name;
  std::uint64_t gets = 0, told = 0;  // elements that it has taken, and those that `progress` knows of
  scheduler *owner = nullptr;
  stack_position at{};
  void (*run)(void *) = nullptr;
  void *argument = nullptr;
  stack memory;
  fiber *next = nullptr;           // in the queue of those that can go on
  std::size_t missing = 0;         // fibers that must end before this one goes on
  std::vector<fiber *> followers;  // those that wait for its end
  fifo_state *full = nullptr, *empty = nullptr;  // the FIFO that it waits at
  fifo_view seen;                                // that FIFO
  bool blocked = false;                          // until it is woken
  void *attached = nullptr;                      // what a simulation keeps of it
  bool started = false, done = false, given_up = false;
  bool joined = false;  // who has started it goes on
};

/// Fibers that a stretch of a program starts, in the order of its text, and waits for.
class group {
 public:
  group() = default;
  group(const group &) = delete;
  group &operator=(const group &) = delete;
  ~group() { clear(); }
  fiber &add() {
    made_.push_back(new fiber);
    return *made_.back();
  }
  fiber &operator[](std::size_t number) { return *made_[number]; }
  fiber &last() { return *made_.back(); }
  std::vector<fiber *>::iterator begin() { return made_.begin(); }
  std::vector<fiber *>::iterator end() { return made_.end(); }
  void clear();

 private:
  std::vector<fiber *> made_;
};

/// Lets the fibers of a thread take turns, each until it has to wait: always in the same order.
///
/// If none can go on, the first of the shallowest FIFOs that are full gets room for one element more, so that at the end
/// it is known which depths would do; if none is full, `leave` ends it all. So it is if they ask FIFOs and ask again, and
/// nothing passes through any FIFO meanwhile.
class scheduler {
 public:
  explicit scheduler(std::size_t stack_bytes) : stack_bytes_(stack_bytes) {
    own_.owner = this;
    own_.number = ++count_;
    own_.started = true;
    alive_.push_back(&own_);
  }
  scheduler(const scheduler &) = delete;
  scheduler &operator=(const scheduler &) = delete;
  virtual ~scheduler() = default;

  /// Whether `leave` may be called now; if not, a get of what nobody puts gets nothing.
  virtual bool can_leave() const { return true; }
  /// Ends it all, on the thread's own stack.
  [[noreturn]] virtual void leave() = 0;

  /// Starts `run(argument)`; it begins when the fibers of the group with the numbers in `after` have ended.
  void spawn(group &fibers, void (*run)(void *), void *argument, const std::vector<std::size_t> &after = {},
             task_name name = {});

  /// Counts a fiber of the group that another thread runs: here it has ended.
  void skip(group &fibers, task_name name);

  /// Waits until a fiber of the group has ended.
  void await(group &fibers, std::size_t number);

  /// Waits until all fibers of the group have ended.
  void join(group &fibers);

  void wait_for_room(fifo_state &fifo, std::uint32_t site);

  /// Whether there is an element now; else there will be none.
  bool wait_for_element(fifo_state &fifo, std::uint32_t site);

  /// Lets one of those that wait at an end of a FIFO go on.
  void wake(fiber *&end) {
    fiber &woken = *end;
    end = woken.next;
    woken.blocked = false;
    push(woken);
  }

  /// Whether a get would wait, where who gets asks.
  bool is_empty(fifo_state &fifo) {
    ask(fifo, fifo.reader_asked, fifo.count == 0);
    return fifo.count == 0;
  }

  /// Whether a put would wait, where who puts asks.
  bool is_full(fifo_state &fifo) {
    ask(fifo, fifo.writer_asked, fifo.is_full());
    return fifo.is_full();
  }

  /// Waits for the oldest element, which stays; as `wait_for_element`.
  bool look(fifo_state &fifo, std::uint32_t site) {
    if (fifo.count != 0) ask(fifo, fifo.reader_asked, false);
    return fifo.count != 0 || wait_for_element(fifo, site);
  }

  /// A fiber uses an end of a FIFO that fiber `before` has used last: ends it all if both run at the same time, and are
  /// not one within the other. Elements would come in any order. A statement that has ended, such as one that fills a
  /// FIFO of a circle of tasks at first, is before all others.
  [[gnu::cold, gnu::noinline]] void share(const fifo_state &fifo, std::uint32_t before, fiber &by, std::uint32_t site,
                                          const char *kind);

  /// Counts what passes through a FIFO from now on.
  void enrol(fifo_state &fifo) { fifo.moves = &moves_; }

  /// Lets a fiber go on when its turn comes.
  void push(fiber &ready) {
    ready.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &ready;
    last_ = &ready;
  }

  /// What runs now.
  fiber &running_fiber() { return *current_; }

  /// Whether a fiber runs, and not what the thread began with.
  bool is_on_fiber() const { return current_ != &own_; }

  /// Ends it all, from any of the fibers.
  [[noreturn]] void fail();

  /// Where a run that was stopped had come to: lines with tabs between the words, as those of `report`.
  std::string state();

  /// Gives back the stacks of a run that was stopped.
  void abandon();

  /// Whom to tell how far the run has come.
  void show(progress *to) { shown_ = to; }

  /// What hung, a line a FIFO with tabs between the words; empty if nothing did. The first line is what was full, or
  /// "empty" if that is how it began: name, depth, puts, gets; others are depths that would do, and what stayed empty.
  /// Before them are the waits when nobody could go on for the first time, and the names of fibers. If nothing hung,
  /// FIFOs that have ended with elements in them.
  std::string report();

  /// Keeps what is to be said of a FIFO that ends; if its call does, it was to be empty.
  void forget(const fifo_state &fifo);

  bool hung() const { return !first_hang_.empty() || !last_hang_.empty() || !shared_.empty(); }

  /// Whether a FIFO has ended with elements in it.
  bool has_left_over() const { return left_over_count_ != 0; }

  /// What `report` would say of FIFOs that have ended with elements in them, which is forgotten.
  std::string take_left_over();

 private:
  static constexpr std::uint64_t kQuestions = 1 << 26;      // while nothing passes through any FIFO: then it is endless
  static constexpr std::uint64_t kMoreQuestions = 1 << 18;  // after something hung

  /// A question to a FIFO. Others go first if the answer would be to wait, or if nothing has passed through the FIFO since
  /// it was asked last: who asks again and again never keeps others from what it asks for.
  void ask(fifo_state &fifo, std::uint64_t &asked, bool waits);

  /// Ends it all if it has been asked for so long that nothing will pass any more.
  [[gnu::cold, gnu::noinline]] void be_patient();

  void wait(fiber *&end, fifo_state *&reason, fifo_state &fifo);

  /// The fiber of this number, if it has not been waited for; null else. They stand in the order of their numbers.
  const fiber *alive(std::uint32_t number) const;

  void follow(fiber &follower, fiber &leader) {
    if (leader.done) return;
    leader.followers.push_back(&follower);
    ++follower.missing;
  }

  /// Lets another fiber go on; returns when this one can.
  void suspend();

  void switch_to(fiber &next);

  /// What a new stack starts with.
  static void begin();

  /// Takes the stack of the fiber that has ended last, which nobody stands on any more.
  void collect();

  /// Makes room in the first of the shallowest FIFOs that are full; whether there is one.
  bool deepen();

  /// Nobody can go on: makes room, or ends it all.
  void resolve();

  /// Of FIFOs that one place makes again and again, the deepest counts.
  static void enter(std::vector<fifo_state> &needs, const fifo_state &fifo);

  progress &shown() { return shown_ != nullptr ? *shown_ : unseen_; }

  /// Counts what a fiber has taken since it was told last.
  void tell(fiber &one);

  /// Why a fiber that has not ended does not go on.
  struct waiting {
    std::uint32_t number, site;
    const char *reason;
    fifo_view seen;
    const fifo_state *fifo;  // where it still is; null where it is none, or has ended
    std::vector<std::uint32_t> others;
  };
  /// What all fibers wait for at one moment, and the names of fibers.
  struct snapshot {
    std::vector<waiting> waits;
    std::vector<named_fiber> names;  // in the order of their numbers
  };

  /// Looks at no FIFO: those of a run that was stopped may be gone.
  snapshot taken() const;

  /// Keeps what is known when nobody can go on for the first time.
  void note_hang();

  /// Notes who uses the other end of a FIFO, as far as that is known by now.
  static void note_user(waiting &wait);

  /// A line for each fiber: "wait", its number, the place of what it does, why it does not go on, the FIFO and what has
  /// passed, whom it waits for; and a line with the name of each fiber.
  static std::string text_of(snapshot &shown);

  static std::string line(const char *kind, const fifo_state &fifo, std::size_t depth);

  static std::string line(const named_fiber &one);

  static constexpr std::size_t kMostLeftOver = 64;  // FIFOs that a report tells of

  std::size_t stack_bytes_;
  fiber own_;  // the thread's own stack
  fiber *current_ = &own_, *first_ = nullptr, *last_ = nullptr, *ended_ = nullptr;
  std::vector<fiber *> alive_;
  std::vector<stack> idle_;
  std::string first_hang_, last_hang_, shared_, left_over_;
  std::size_t left_over_count_ = 0;
  snapshot first_waits_;
  std::uint32_t count_ = 0, left_ = 0;  // fibers that there were; the one that has ended it all
  progress unseen_, *shown_ = nullptr;
  std::vector<fifo_state> ended_needs_;
  std::vector<fifo_state *> deepened_;
  std::uint64_t moves_ = 0, moves_seen_ = 0, questions_ = 0;
  const fifo_state *first_asked_ = nullptr;  // since something has moved
  const char *first_asked_by_ = "";
  bool leaving_ = false;
  volatile bool changing_ = false;  // whether `alive_` is
};

void fifo_state::has_put(fiber &by, std::uint32_t site) {
  has_put();
  if (putter != by.number) {
    if (putter != 0) by.owner->share(*this, putter, by, site, "two_put");
    putter = by.number;
    put_by = {by.number, by.parent, by.name};
  }
  by.site = site;
  if (moves != nullptr) ++*moves;
  if (reader != nullptr) reader->owner->wake(reader);
}

void fifo_state::has_got(fiber &by, std::uint32_t site) {
  has_got();
  if (getter != by.number) {
    if (getter != 0) by.owner->share(*this, getter, by, site, "two_get");
    getter = by.number;
    got_by = {by.number, by.parent, by.name};
  }
  by.site = site;
  ++by.gets;
  if (moves != nullptr) ++*moves;
  if (writer != nullptr) writer->owner->wake(writer);
}

}  // namespace allo_sim

#endif
