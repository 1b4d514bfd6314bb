// Models of what is around a kernel with AXI interfaces: memory, a host, sources and sinks of streams. They sample wires
// before a clock edge and drive them after it, and check the protocol (AMBA AXI, IHI 0022).
#pragma once
#define ALLO_BUS // `driver.h` comes before it

struct Wire { // the storage of a port of the model
  unsigned char *data = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t get() const {
    std::uint64_t value = 0;
    std::memcpy(&value, data, bytes < 8 ? bytes : 8);
    return value;
  }
  void set(std::uint64_t value) const {
    std::memset(data, 0, bytes);
    std::memcpy(data, &value, bytes < 8 ? bytes : 8);
  }
};
using Find = std::function<Wire(const std::string &)>;

struct Chance { // splitmix64; without a seed nothing waits
  bool is_random = false;
  std::uint64_t state = 0;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  bool goes() { return !is_random || next() % 4 != 0; }
  std::uint64_t delay(std::uint64_t usual) { return is_random ? 1 + next() % (2 * usual) : usual; }
};

struct Pace { // at most one word each `cycles` / `parts` cycles
  std::uint64_t cycles = 1, parts = 1, free = 0;
  bool allows(std::uint64_t now) const { return now * parts >= free; }
  void take(std::uint64_t now) { free = (now && free > (now - 1) * parts ? free : now * parts) + cycles; }
};

struct Bus;

struct Model {
  Bus &bus;
  std::string name;
  Model(Bus &bus, std::string name) : bus(bus), name(std::move(name)) {}
  virtual ~Model() = default;
  virtual void reset() = 0;  // drive what is driven while nothing happens
  virtual void start() = 0;  // of a run
  virtual void sample() = 0; // before the edge that ends cycle `bus.now`
  virtual void drive() = 0;  // for cycle `bus.now`
  virtual void finish() {}   // at the end of a run: what is still open?
  virtual bool idle() const = 0; // nothing will change before one of the signals that wake it is 1
  std::vector<Wire> taken;   // the valid signals of what has been taken, which fall after the edge
  void refuse(const char *rule, const std::string &what);
};

struct Held { // what has been offered must stay until it is taken
  bool waits = false;
  std::vector<unsigned char> before;
  bool changed(bool valid, bool ready, std::initializer_list<const Wire *> payload);
};

struct Region {
  std::string port;
  std::uint64_t base, size;
  unsigned char *data;
  bool reads, writes;
  std::uint64_t used; // the bytes of the array, behind which the last word may reach
};

struct Bus {
  std::uint64_t now = 0;
  Chance chance;
  std::string violation; // the first one
  std::vector<Region> regions;
  std::vector<std::unique_ptr<Model>> models;
  struct Host *host = nullptr;
  std::vector<const unsigned char *> wakers; // signals, 1 bit each
  bool asleep = false;                       // all is idle, and nothing waits at random
  Region *region(const std::string &port, std::uint64_t from, std::uint64_t size, bool writes);
  void sample() {
    for (const unsigned char *waker : wakers)
      asleep = asleep && !*waker;
    for (auto &model : models)
      if (!asleep)
        model->sample();
    ++now;
  }
  void drive() {
    if (asleep)
      return;
    asleep = !chance.is_random;
    for (auto &model : models) {
      for (const Wire &valid : model->taken)
        valid.set(0);
      model->taken.clear();
      model->drive();
      asleep = asleep && model->idle();
    }
  }
  void reset() {
    asleep = false;
    for (auto &model : models) {
      model->taken.clear();
      model->reset();
    }
  }
};

struct Memory : Model { // a subordinate of AXI4
  struct Burst {
    std::uint64_t from, beats, at, done = 0;
  };
  struct Word {
    std::vector<unsigned char> data;
    std::uint64_t strobes;
    bool last;
  };
  std::uint64_t bytes, latency;
  Pace read_pace, write_pace;
  bool reads, writes;
  Wire arvalid, arready, araddr, arlen, arsize, arburst, rvalid, rready, rdata, rresp, rlast;
  Wire awvalid, awready, awaddr, awlen, awsize, awburst, wvalid, wready, wdata, wstrb, wlast, bvalid, bready, bresp;
  Held ar, aw, w;
  std::deque<Burst> to_read, to_write;
  std::deque<Word> words;
  std::deque<std::uint64_t> answers;
  std::uint64_t mode = 0, waited = 0;
  std::uint64_t counts[4] = {}; // bursts read, words read, bursts written, words written
  Memory(Bus &bus, std::string name, const Find &find, std::uint64_t bits, std::uint64_t latency, Pace pace);
  void reset() override;
  void start() override;
  void sample() override;
  void drive() override;
  bool idle() const override;
  void finish() override;

private:
  void check(const char *channel, const Wire &addr, const Wire &len, const Wire &size, const Wire &burst, bool writes);
  void sample_reads();
  void sample_writes();
  void store();
  void drive_reads();
  void drive_writes();
};

struct Host : Model { // a manager of AXI4-Lite: it writes registers, starts, waits for the interrupt, reads registers
  struct Step {
    char kind; // 'w' writes, 'i' waits for the interrupt, 'r' reads
    std::uint64_t place, value;
  };
  Wire awvalid, awready, awaddr, wvalid, wready, wdata, wstrb, bvalid, bready, bresp;
  Wire arvalid, arready, araddr, rvalid, rready, rdata, rresp, interrupt;
  std::vector<Step> steps;
  std::vector<std::uint64_t> found;
  std::size_t at = 0;
  bool begun = false, has_address = false, has_word = false;
  Held b, r;
  Host(Bus &bus, std::string name, const Find &find);
  void reset() override;
  void start() override;
  void sample() override;
  void drive() override;
  bool idle() const override;
  bool finished() const { return at == steps.size(); }
};

struct Source : Model { // of the words of an AXI4-Stream
  Wire tvalid, tready, tdata, tlast;
  std::uint64_t bytes, count = 0, sent = 0;
  const unsigned char *data = nullptr;
  Source(Bus &bus, std::string name, const Find &find, std::uint64_t bits);
  void reset() override;
  void start() override { sent = 0; }
  void sample() override;
  void drive() override;
  bool idle() const override;
};

struct Sink : Model {
  Wire tvalid, tready, tdata, tkeep, tlast;
  std::uint64_t bytes, count = 0, received = 0;
  unsigned char *data = nullptr;
  Held held;
  Sink(Bus &bus, std::string name, const Find &find, std::uint64_t bits);
  void reset() override;
  void start() override { received = 0; }
  void sample() override;
  void drive() override;
  bool idle() const override;
  void finish() override;
};
