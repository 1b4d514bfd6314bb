// Memory, host and streams around a kernel: how they answer, and what they take for a violation of the protocol.
#include "bus.h"

namespace {
constexpr std::uint64_t page = 4096, longest = 256, patience = 10000;

std::string text(std::uint64_t number) {
  char found[32];
  std::snprintf(found, sizeof found, "0x%llx", static_cast<unsigned long long>(number));
  return found;
}
} // namespace

void Model::refuse(const char *rule, const std::string &what) {
  if (bus.violation.empty())
    bus.violation = name + " violates " + rule + ": " + what;
}

bool Held::changed(bool valid, bool ready, std::initializer_list<const Wire *> payload) {
  std::vector<unsigned char> here;
  if (valid)
    for (const Wire *wire : payload)
      here.insert(here.end(), wire->data, wire->data + wire->bytes);
  bool found = waits && (!valid || here != before);
  waits = valid && !ready;
  before.swap(here);
  return found;
}

Region *Bus::region(const std::string &port, std::uint64_t from, std::uint64_t size, bool writes) {
  for (auto &one : regions)
    if (one.port == port && (writes ? one.writes : one.reads) && from >= one.base && from - one.base < one.size &&
        size <= one.size - (from - one.base))
      return &one;
  return nullptr;
}

// -- memory -----------------------------------------------------------------------------------------------------------

Memory::Memory(Bus &bus, std::string label, const Find &find, std::uint64_t bits, std::uint64_t latency, Pace pace)
    : Model(bus, std::move(label)), bytes(bits / 8), latency(latency), read_pace(pace), write_pace(pace) {
  auto wire = [&](const char *what) { return find(name + "_" + what); };
  reads = wire("arvalid").data != nullptr;
  writes = wire("awvalid").data != nullptr;
  if (reads) {
    arvalid = wire("arvalid"), arready = wire("arready"), araddr = wire("araddr"), arlen = wire("arlen");
    arsize = wire("arsize"), arburst = wire("arburst"), rvalid = wire("rvalid"), rready = wire("rready");
    rdata = wire("rdata"), rresp = wire("rresp"), rlast = wire("rlast");
    bus.wakers.push_back(arvalid.data);
  }
  if (writes) {
    awvalid = wire("awvalid"), awready = wire("awready"), awaddr = wire("awaddr"), awlen = wire("awlen");
    awsize = wire("awsize"), awburst = wire("awburst"), wvalid = wire("wvalid"), wready = wire("wready");
    wdata = wire("wdata"), wstrb = wire("wstrb"), wlast = wire("wlast"), bvalid = wire("bvalid");
    bready = wire("bready"), bresp = wire("bresp");
    bus.wakers.insert(bus.wakers.end(), {awvalid.data, wvalid.data});
  }
}

bool Memory::idle() const {
  bool is_free = to_read.empty() && to_write.empty() && words.empty() && answers.empty();
  return is_free && write_pace.allows(bus.now) && !ar.waits && !aw.waits && !w.waits;
}

void Memory::reset() {
  ar = aw = w = Held{};
  to_read.clear(), to_write.clear(), words.clear(), answers.clear();
  read_pace.free = write_pace.free = 0;
  if (reads)
    arready.set(0), rvalid.set(0), rdata.set(0), rresp.set(0), rlast.set(0);
  if (writes)
    awready.set(0), wready.set(0), bvalid.set(0), bresp.set(0);
}

void Memory::start() {
  std::memset(counts, 0, sizeof counts);
  if ((reads && arvalid.get()) || (writes && (awvalid.get() || wvalid.get())))
    refuse("RESET", "something is offered before the kernel has been started");
}

void Memory::finish() {
  if (!to_read.empty() || !to_write.empty() || !words.empty() || !answers.empty())
    refuse("OPEN", "bursts have not ended when the kernel says that it has");
}

void Memory::check(const char *channel, const Wire &addr, const Wire &len, const Wire &size, const Wire &burst,
                   bool is_write) {
  std::uint64_t from = addr.get(), count = len.get() + 1;
  std::string begin = channel, what = text(count) + " words from " + text(from);
  if (burst.get() != 1)
    refuse((begin + "_BURST").c_str(), "a burst whose addresses do not rise");
  else if (std::uint64_t(1) << size.get() != bytes)
    refuse((begin + "_SIZE").c_str(), "words of " + text(std::uint64_t(1) << size.get()) + " bytes");
  else if (from % bytes)
    refuse((begin + "_ALIGN").c_str(), what);
  else if (count > longest)
    refuse((begin + "_LENGTH").c_str(), what);
  else if (from / page != (from + count * bytes - 1) / page)
    refuse((begin + "_4KB").c_str(), "a burst across 4 KiB, " + what);
  else if (!bus.region(name, from, count * bytes, is_write))
    refuse((begin + "_PLACE").c_str(), "no array is at " + what);
}

void Memory::sample() {
  if (reads)
    sample_reads();
  if (writes)
    sample_writes();
}

void Memory::sample_reads() {
  bool offers = arvalid.get(), takes = offers && arready.get();
  if (ar.changed(offers, takes, {&araddr, &arlen, &arsize, &arburst}))
    refuse("AR_STABLE", "an address was withdrawn or changed before it was taken");
  if (takes) {
    check("AR", araddr, arlen, arsize, arburst, false);
    to_read.push_back({araddr.get(), arlen.get() + 1, bus.now + bus.chance.delay(latency)});
    ++counts[0];
  }
  if (rvalid.get() && rready.get()) {
    ++counts[1];
    taken.push_back(rvalid);
    if (++to_read.front().done == to_read.front().beats)
      to_read.pop_front();
  }
}

void Memory::sample_writes() {
  bool offers = awvalid.get(), takes = offers && awready.get();
  if (aw.changed(offers, takes, {&awaddr, &awlen, &awsize, &awburst}))
    refuse("AW_STABLE", "an address was withdrawn or changed before it was taken");
  if (takes) {
    check("AW", awaddr, awlen, awsize, awburst, true);
    to_write.push_back({awaddr.get(), awlen.get() + 1, 0});
    ++counts[2];
  }
  waited = offers && !takes && mode == 1 && words.empty() && !wvalid.get() ? waited + 1 : 0;
  if (waited > patience)
    refuse("W_WAITS", "no word is offered before its address is taken");
  bool gives = wvalid.get(), goes = gives && wready.get();
  if (w.changed(gives, goes, {&wdata, &wstrb, &wlast}))
    refuse("W_STABLE", "a word was withdrawn or changed before it was taken");
  if (goes) {
    words.push_back({{wdata.data, wdata.data + bytes}, wstrb.get(), wlast.get() != 0});
    write_pace.take(bus.now);
    ++counts[3];
  }
  if (bvalid.get() && bready.get()) {
    answers.pop_front();
    taken.push_back(bvalid);
  }
  store();
}

void Memory::store() {
  while (!words.empty() && !to_write.empty()) {
    Word word = words.front();
    Burst &burst = to_write.front();
    std::uint64_t from = burst.from + burst.done * bytes;
    bool is_last = ++burst.done == burst.beats;
    if (word.last != is_last)
      refuse("W_LAST", word.last ? "the last word of a burst comes too early" : "a burst has no last word");
    Region *region = bus.region(name, from, bytes, true);
    for (std::uint64_t k = 0; region && k < bytes; ++k)
      if (word.strobes >> k & 1) {
        if (from - region->base + k >= region->used)
          refuse("W_PLACE", "bytes behind the array are written");
        else
          region->data[from - region->base + k] = word.data[k];
      }
    words.pop_front();
    if (is_last) {
      answers.push_back(bus.now + bus.chance.delay(latency));
      to_write.pop_front();
    }
  }
}

void Memory::drive() {
  if (bus.chance.is_random && bus.now % 64 == 0 && !waited)
    mode = bus.chance.next() % 3;
  if (reads)
    drive_reads();
  if (writes)
    drive_writes();
}

void Memory::drive_reads() {
  arready.set(bus.chance.goes());
  if (rvalid.get() || to_read.empty() || to_read.front().at > bus.now || !read_pace.allows(bus.now) ||
      !bus.chance.goes())
    return;
  Burst &burst = to_read.front();
  std::uint64_t from = burst.from + burst.done * bytes;
  const Region *region = bus.region(name, from, bytes, false);
  rdata.set(0);
  if (region)
    std::memcpy(rdata.data, region->data + (from - region->base), bytes);
  rresp.set(region ? 0 : 3);
  rlast.set(burst.done + 1 == burst.beats);
  rvalid.set(1);
  read_pace.take(bus.now);
}

void Memory::drive_writes() { // modes: an address waits for its word, a word for its address, neither
  awready.set(bus.chance.goes() && !(mode == 1 && words.empty() && !wvalid.get()));
  wready.set(bus.chance.goes() && write_pace.allows(bus.now) && !(mode == 2 && to_write.empty()));
  if (!bvalid.get() && !answers.empty() && answers.front() <= bus.now) {
    bvalid.set(1);
    bresp.set(0);
  }
}

// -- host -------------------------------------------------------------------------------------------------------------

Host::Host(Bus &bus, std::string label, const Find &find) : Model(bus, std::move(label)) {
  auto wire = [&](const char *what) { return find(name + "_" + what); };
  awvalid = wire("awvalid"), awready = wire("awready"), awaddr = wire("awaddr"), wvalid = wire("wvalid");
  wready = wire("wready"), wdata = wire("wdata"), wstrb = wire("wstrb"), bvalid = wire("bvalid");
  bready = wire("bready"), bresp = wire("bresp"), arvalid = wire("arvalid"), arready = wire("arready");
  araddr = wire("araddr"), rvalid = wire("rvalid"), rready = wire("rready"), rdata = wire("rdata");
  rresp = wire("rresp"), interrupt = find("interrupt");
  bus.wakers.push_back(interrupt.data);
}

bool Host::idle() const { return !finished() && steps[at].kind == 'i'; }

void Host::reset() {
  steps.clear(), found.clear();
  at = 0;
  begun = has_address = has_word = false;
  b = r = Held{};
  awvalid.set(0), awaddr.set(0), wvalid.set(0), wdata.set(0), wstrb.set(0xf), bready.set(0), arvalid.set(0);
  araddr.set(0), rready.set(0);
}

void Host::start() {
  at = 0;
  found.clear();
  begun = has_address = has_word = false;
}

void Host::sample() {
  if (awvalid.get() && awready.get())
    taken.push_back(awvalid), has_address = true;
  if (wvalid.get() && wready.get())
    taken.push_back(wvalid), has_word = true;
  if (arvalid.get() && arready.get())
    taken.push_back(arvalid), has_address = true;
  bool answers = bvalid.get(), reads = rvalid.get();
  char kind = finished() ? ' ' : steps[at].kind;
  if (b.changed(answers, bready.get(), {&bresp}))
    refuse("B_STABLE", "an answer was withdrawn or changed before it was taken");
  if (r.changed(reads, rready.get(), {&rdata, &rresp}))
    refuse("R_STABLE", "a word was withdrawn or changed before it was taken");
  if (answers && !(kind == 'w' && has_address && has_word))
    refuse("B_ORDER", "an answer without a write");
  if (reads && !(kind == 'r' && has_address))
    refuse("R_ORDER", "a word that was not asked for");
  if (answers && bready.get()) {
    if (bresp.get())
      refuse("B_RESPONSE", "the write of a register failed");
    begun = has_address = has_word = false;
    ++at;
  }
  if (reads && rready.get()) {
    if (rresp.get())
      refuse("R_RESPONSE", "the read of a register failed");
    found.push_back(rdata.get());
    begun = has_address = false;
    ++at;
  }
  if (kind == 'i' && interrupt.get())
    ++at;
}

void Host::drive() {
  bready.set(bus.chance.goes());
  rready.set(bus.chance.goes());
  if (finished())
    return;
  Step &step = steps[at];
  if (step.kind == 'r' && !begun) {
    araddr.set(step.place), arvalid.set(1);
    begun = true;
  }
  if (step.kind != 'w')
    return;
  begun = true;
  if (!has_address && !awvalid.get() && bus.chance.goes())
    awaddr.set(step.place), awvalid.set(1);
  if (!has_word && !wvalid.get() && bus.chance.goes())
    wdata.set(step.value), wvalid.set(1);
}

// -- streams ----------------------------------------------------------------------------------------------------------

Source::Source(Bus &bus, std::string label, const Find &find, std::uint64_t bits)
    : Model(bus, std::move(label)), bytes(bits / 8) {
  tvalid = find(name + "_tvalid"), tready = find(name + "_tready"), tdata = find(name + "_tdata");
  tlast = find(name + "_tlast");
}

bool Source::idle() const { return sent == count && !tvalid.get(); }

void Source::reset() {
  sent = count = 0;
  tvalid.set(0), tdata.set(0), tlast.set(0);
}

void Source::sample() {
  if (tvalid.get() && tready.get())
    taken.push_back(tvalid), ++sent;
}

void Source::drive() {
  if (tvalid.get() || sent == count || !bus.chance.goes())
    return;
  tdata.set(0);
  std::memcpy(tdata.data, data + sent * bytes, bytes);
  tlast.set(sent + 1 == count);
  tvalid.set(1);
}

Sink::Sink(Bus &bus, std::string label, const Find &find, std::uint64_t bits)
    : Model(bus, std::move(label)), bytes(bits / 8) {
  tvalid = find(name + "_tvalid"), tready = find(name + "_tready"), tdata = find(name + "_tdata");
  tkeep = find(name + "_tkeep"), tlast = find(name + "_tlast");
  bus.wakers.push_back(tvalid.data);
}

bool Sink::idle() const { return !held.waits; }

void Sink::reset() {
  received = count = 0;
  held = Held{};
  tready.set(0);
}

void Sink::sample() {
  bool valid = tvalid.get(), ready = tready.get();
  if (held.changed(valid, ready, {&tdata, &tkeep, &tlast}))
    refuse("T_STABLE", "a word was withdrawn or changed before it was taken");
  if (!valid || !ready)
    return;
  if (received == count) {
    refuse("T_COUNT", "more words come than the array has");
    return;
  }
  for (std::uint64_t k = 0; k < bytes; ++k)
    if (tkeep.data[k / 8] >> (k % 8) & 1)
      data[received * bytes + k] = tdata.data[k];
  if ((tlast.get() != 0) != (++received == count))
    refuse("T_LAST", "the mark of the last word stands at another one");
}

void Sink::drive() { tready.set(bus.chance.goes()); }

void Sink::finish() {
  if (received != count)
    refuse("T_COUNT", "fewer words have come than the array has");
}
