// What fibers do when they wait: which one goes on, what is known when none can, and how that is told.
#include "fibers.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace allo_sim {

namespace {
thread_local scheduler *starting = nullptr;  // whose fiber is about to start
}

void group::clear() {
  for (fiber *one : made_) delete one;
  made_.clear();
}

void scheduler::spawn(group &fibers, void (*run)(void *), void *argument, const std::vector<std::size_t> &after,
                      task_name name) {
  fiber &made = fibers.add();
  made.owner = this;
  made.number = ++count_;
  made.parent = current_->number;
  made.name = name;
  ++shown().tasks;
  made.run = run;
  made.argument = argument;
  changing_ = true;
  alive_.push_back(&made);
  changing_ = false;
  for (std::size_t number : after) follow(made, fibers[number]);
  if (made.missing == 0) push(made);
}

void scheduler::skip(group &fibers, task_name name) {
  fiber &made = fibers.add();
  made.owner = this;
  made.number = ++count_;
  made.name = name;
  made.done = true;
}

void scheduler::await(group &fibers, std::size_t number) {
  follow(*current_, fibers[number]);
  if (current_->missing != 0) suspend();
}

void scheduler::join(group &fibers) {
  for (fiber *child : fibers) follow(*current_, *child);
  if (current_->missing != 0) suspend();
  collect();
  changing_ = true;
  for (fiber *child : fibers) child->joined = true;
  alive_.erase(std::remove_if(alive_.begin(), alive_.end(), [](fiber *one) { return one->joined; }), alive_.end());
  changing_ = false;
  fibers.clear();
}

void scheduler::wait_for_room(fifo_state &fifo, std::uint32_t site) {
  current_->site = site;
  if (fifo.putter != current_->number && fifo.putter != 0) share(fifo, fifo.putter, *current_, site, "two_put");
  while (fifo.is_full()) wait(fifo.writer, current_->full, fifo);
}

bool scheduler::wait_for_element(fifo_state &fifo, std::uint32_t site) {
  current_->site = site;
  if (fifo.getter != current_->number && fifo.getter != 0) share(fifo, fifo.getter, *current_, site, "two_get");
  while (fifo.count == 0) {
    wait(fifo.reader, current_->empty, fifo);
    if (current_->given_up) {
      current_->given_up = false;
      return false;
    }
  }
  return true;
}

void scheduler::share(const fifo_state &fifo, std::uint32_t before, fiber &by, std::uint32_t site,
                      const char *kind) {
  const fiber *other = alive(before);
  if (fifo.name.empty() || other == nullptr) return;  // it was waited for
  if (other->done && other->name.statement != by.name.statement) return;
  for (const fiber *around = &by; around != nullptr; around = alive(around->parent))
    if (around->number == before) return;
  if (!shared_.empty()) return;
  shared_ = line(kind, fifo, fifo.declared);
  shared_ += "users";
  for (std::uint32_t number : {before, by.number, site}) shared_ += '\t' + std::to_string(number);
  shared_ += '\n';
  snapshot names = taken();
  names.waits.clear();
  shared_ += text_of(names);
  if (can_leave()) fail();
}

void scheduler::fail() {
  leaving_ = true;
  left_ = current_->number;
  if (current_ != &own_) {
    fiber &left = *current_;
    current_ = &own_;
    switch_stack(left.at, own_.at);
  }
  leave();
  std::abort();
}

std::string scheduler::state() {
  tell(*current_);
  std::string text = "state";
  for (const auto *count : {&shown().passed, &shown().tasks, &shown().ended}) text += '\t' + std::to_string(*count);
  if (changing_) return text + '\t' + std::to_string(left_) + '\n';  // it was stopped here
  snapshot now = taken();
  return text + '\t' + std::to_string(left_) + '\n' + text_of(now);
}

void scheduler::abandon() {
  if (changing_) return;
  for (fiber *one : alive_) one->memory = stack();
  alive_.clear();
}

std::string scheduler::report() {
  if (!shared_.empty()) return shared_;
  if (!hung()) return take_left_over();
  std::vector<fifo_state> needs = ended_needs_;
  for (const fifo_state *fifo : deepened_) enter(needs, *fifo);
  std::string text = first_hang_;
  for (const fifo_state &fifo : needs) text += line("needs", fifo, fifo.depth);
  return text + last_hang_ + text_of(first_waits_);
}

void scheduler::forget(const fifo_state &fifo) {
  if (fifo.count != 0 && !leaving_ && !hung() && !fifo.name.empty() && ++left_over_count_ <= kMostLeftOver) {
    left_over_ += line("left", fifo, fifo.declared);
    left_over_ += "ends\t" + std::to_string(fifo.put_by.number) + '\t' + std::to_string(fifo.got_by.number) + '\n';
    for (const named_fiber &end : {fifo.put_by, fifo.got_by}) {
      left_over_ += line(end);
      for (const fiber *around = alive(end.parent); around != nullptr; around = alive(around->parent))
        left_over_ += line({around->number, around->parent, around->name});
    }
  }
  if (first_asked_ == &fifo) first_asked_ = nullptr;
  for (waiting &wait : first_waits_.waits)
    if (wait.fifo == &fifo) {
      note_user(wait);
      wait.fifo = nullptr;
    }
  const auto found = std::find(deepened_.begin(), deepened_.end(), &fifo);
  if (found == deepened_.end()) return;
  enter(ended_needs_, fifo);
  deepened_.erase(found);
}

std::string scheduler::take_left_over() {
  left_over_count_ = 0;
  return std::exchange(left_over_, "");
}

void scheduler::ask(fifo_state &fifo, std::uint64_t &asked, bool waits) {
  if (waits || asked == fifo.passed()) {
    if (moves_ != moves_seen_ || first_asked_ == nullptr) {
      moves_seen_ = moves_;
      questions_ = 0;
      first_asked_ = &fifo;
      first_asked_by_ = &asked == &fifo.writer_asked ? "asked_by_writer" : "asked_by_reader";
    } else if (++questions_ >= kMoreQuestions) {
      be_patient();
    }
    if (first_ != nullptr) {
      push(*current_);
      suspend();
    }
  }
  asked = fifo.passed();
}

void scheduler::be_patient() {
  if (questions_ < (hung() ? kMoreQuestions : kQuestions) || !can_leave()) return;
  questions_ = 0;
  if (deepen()) return;
  last_hang_ = line(first_asked_by_, *first_asked_, first_asked_->declared);
  fail();
}

void scheduler::wait(fiber *&end, fifo_state *&reason, fifo_state &fifo) {
  fiber &self = *current_;
  self.seen.name[fifo.name.copy(self.seen.name, sizeof(self.seen.name) - 1)] = 0;
  self.seen.depth = fifo.declared, self.seen.puts = fifo.puts, self.seen.gets = fifo.gets;
  self.seen.user = &reason == &self.full ? fifo.getter : fifo.putter;
  self.next = end;
  end = &self;
  reason = &fifo;
  self.blocked = true;
  suspend();
  reason = nullptr;
}

const fiber *scheduler::alive(std::uint32_t number) const {
  const auto found = std::lower_bound(alive_.begin(), alive_.end(), number,
                                      [](const fiber *one, std::uint32_t wanted) { return one->number < wanted; });
  return found != alive_.end() && (*found)->number == number ? *found : nullptr;
}

void scheduler::suspend() {
  while (first_ == nullptr) resolve();
  fiber &next = *first_;
  first_ = next.next;
  switch_to(next);
}

void scheduler::switch_to(fiber &next) {
  fiber &before = *current_;
  if (&next == &before) return;
  tell(before);
  current_ = &next;
  if (!next.started) {
    next.started = true;
    if (idle_.empty()) {
      next.memory = stack(stack_bytes_);
      if (!next.memory) {
        last_hang_ = "memory\n";
        current_ = &before;
        fail();
      }
    } else {
      next.memory = std::move(idle_.back());
      idle_.pop_back();
    }
    starting = this;
    next.at = start_of(next.memory, begin);
  }
  switch_stack(before.at, next.at);
  if (leaving_) leave();
}

void scheduler::begin() {
  scheduler &owner = *starting;
  fiber &self = *owner.current_;
  owner.collect();
  self.run(self.argument);
  self.done = true;
  ++owner.shown().ended;
  for (fiber *follower : self.followers)
    if (--follower->missing == 0) owner.push(*follower);
  owner.collect();
  owner.ended_ = &self;
  owner.suspend();
  std::abort();  // nobody switches to what has ended
}

void scheduler::collect() {
  if (ended_ != nullptr && ended_ != current_) {
    idle_.push_back(std::move(ended_->memory));
    ended_ = nullptr;
  }
}

bool scheduler::deepen() {
  if (!hung()) note_hang();
  fifo_state *chosen = nullptr;
  for (fiber *one : alive_)
    if (one->full != nullptr && (chosen == nullptr || one->full->depth < chosen->depth)) chosen = one->full;
  if (chosen == nullptr) return false;
  if (!hung()) first_hang_ = line("full", *chosen, chosen->declared);
  if (chosen->depth == chosen->declared) deepened_.push_back(chosen);
  ++chosen->depth;
  wake(chosen->writer);
  return true;
}

void scheduler::resolve() {
  if (deepen()) return;
  for (fiber *one : alive_)
    if (one->empty != nullptr) {
      if (last_hang_.empty()) last_hang_ = line("empty", *one->empty, one->empty->declared);
      if (can_leave()) break;
      one->given_up = true;
      one->empty->reader = one->next;
      push(*one);
      return;
    }
  fail();
}

void scheduler::enter(std::vector<fifo_state> &needs, const fifo_state &fifo) {
  for (fifo_state &known : needs)
    if (known.name == fifo.name) {
      if (known.depth < fifo.depth) known = fifo;
      return;
    }
  needs.push_back(fifo);
}

void scheduler::tell(fiber &one) {
  shown().passed.fetch_add(one.gets - one.told, std::memory_order_relaxed);
  one.told = one.gets;
}

scheduler::snapshot scheduler::taken() const {
  snapshot made;
  std::map<std::uint32_t, std::vector<std::uint32_t>> leaders;
  for (const fiber *one : alive_)
    for (const fiber *follower : one->followers)
      if (!one->done) leaders[follower->number].push_back(one->number);
  for (const fiber *one : alive_) {
    made.names.push_back({one->number, one->parent, one->name});
    if (one->done) continue;
    const char *reason = one->missing != 0 ? "end" : "turn";
    if (one->blocked) reason = one->full != nullptr ? "full" : "empty";
    made.waits.push_back({one->number, one->site, reason, {}, nullptr, leaders[one->number]});
    if (!one->blocked) continue;
    made.waits.back().seen = one->seen;
    if (one->seen.user != 0) made.waits.back().others = {one->seen.user};
  }
  return made;
}

void scheduler::note_hang() {
  first_waits_ = taken();
  std::size_t place = 0;
  for (const fiber *one : alive_) {
    if (one->done) continue;
    if (one->blocked) first_waits_.waits[place].fifo = one->full != nullptr ? one->full : one->empty;
    ++place;
  }
}

void scheduler::note_user(waiting &wait) {
  const std::uint32_t user = wait.reason[0] == 'f' ? wait.fifo->getter : wait.fifo->putter;
  if (user != 0) wait.others = {user};
}

std::string scheduler::text_of(snapshot &shown) {
  std::string text;
  for (waiting &wait : shown.waits) {
    if (wait.fifo != nullptr) note_user(wait);
    text += "wait\t" + std::to_string(wait.number) + '\t' + std::to_string(wait.site) + '\t' + wait.reason + '\t' +
            wait.seen.name;
    for (std::uint64_t value : {wait.seen.depth, wait.seen.puts, wait.seen.gets}) text += '\t' + std::to_string(value);
    text += '\t';
    for (std::uint32_t other : wait.others) text += std::to_string(other) + ' ';
    text += '\n';
  }
  for (const named_fiber &one : shown.names) text += line(one);
  return text;
}

std::string scheduler::line(const named_fiber &one) {
  return "task\t" + std::to_string(one.number) + '\t' + std::to_string(one.parent) + '\t' +
         std::to_string(one.name.statement) + '\t' + std::to_string(one.name.element) + '\n';
}

std::string scheduler::line(const char *kind, const fifo_state &fifo, std::size_t depth) {
  std::string text = std::string(kind) + '\t' + fifo.name;
  for (std::uint64_t value : {static_cast<std::uint64_t>(depth), fifo.puts, fifo.gets}) text += '\t' + std::to_string(value);
  return text + '\n';
}

}  // namespace allo_sim
