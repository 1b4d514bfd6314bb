// Functions that drive any model with the ports clk, rst, start, done and stuck, or with AXI interfaces in place of the
// last three: the same text for all of them.
#include "Vsim.h"
#ifdef ALLO_TRACE
#include ALLO_TRACE
#endif

namespace {
enum Ended { done = 0, stuck = 1, limited = 2, failed = 3 };

thread_local std::string *printed = nullptr; // where the simulation that runs writes
thread_local bool stopped = false;           // by an assertion

struct Simulation {
  VerilatedContext context;
  Vsim *model;
  std::string output;
  std::uint64_t edges = 0;
#ifdef ALLO_BUS
  Bus bus;
  const unsigned char *stuck = nullptr; // the signal of that name

  void begin() { // a run
    bus.violation.clear();
    bus.asleep = false;
    for (auto &one : bus.models)
      one->start();
    bus.drive();
  }
#endif
#ifdef ALLO_TRACE
  ALLO_TRACER *trace = nullptr;
#endif

  explicit Simulation(std::int64_t seed) {
    context.threads(1);
    context.randReset(seed < 0 ? 0 : 2);
    context.randSeed(seed < 0 ? 0 : static_cast<int>(seed));
    model = new Vsim{&context, "TOP"};
  }
  ~Simulation() {
#ifdef ALLO_TRACE
    delete trace;
#endif
    Verilated::threadContextp(&context); // scopes leave that one, which may be of a simulation that is gone
    delete model;
  }

  void dump([[maybe_unused]] bool up) {
#ifdef ALLO_TRACE
    if (trace)
      trace->dump(2 * edges + up); // two steps a cycle, the rising edge first
#endif
  }

  void edge() { // seen between two evaluations
#ifdef ALLO_BUS
    bus.sample();
#endif
    model->clk = 1;
    model->eval();
    dump(false);
#ifdef ALLO_BUS
    bus.drive();
#endif
    model->clk = 0;
    model->eval();
    dump(true);
    ++edges;
  }
};

// What some models and some versions of Verilator lack is chosen with 0: an `int` sooner than a `long`.

// Bits of an element: Verilator 5.006 tells them in another way.
template <typename Variable> auto width(Variable *variable, int) -> decltype(std::uint64_t(variable->entBits())) {
  return variable->entBits();
}
template <typename Variable> std::uint64_t width(Variable *variable, long) { return variable->packed().elements(); }

template <typename Model> auto set_start(Model *model, int value, int) -> decltype(void(model->start)) {
  model->start = value;
}
template <typename Model> void set_start(Model *, int, long) {}

template <typename Model> auto is_done(Model *model, int) -> decltype(bool(model->done)) { return model->done; }
template <typename Model> bool is_done(Model *, long) { return false; }

template <typename Model> auto is_stuck(Model *model, int) -> decltype(bool(model->stuck)) { return model->stuck; }
template <typename Model> bool is_stuck(Model *, long) { return false; }

Simulation *running(void *handle) {
  auto *simulation = static_cast<Simulation *>(handle);
  printed = &simulation->output;
  return simulation;
}
} // namespace

int allo_sim_print(const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  int length = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (printed && printed->size() < 65536)
    *printed += text;
  return length;
}
void vl_stop(const char *, int, const char *) VL_MT_UNSAFE { stopped = true; }
void vl_finish(const char *, int, const char *) VL_MT_UNSAFE { stopped = true; }
void vl_fatal(const char *, int, const char *, const char *message) VL_MT_UNSAFE {
  allo_sim_print("%s\n", message);
  stopped = true;
}

#define API extern "C" __attribute__((visibility("default")))

API void *allo_sim_new(std::int64_t seed, const char *waveform) {
  auto *simulation = new Simulation(seed);
#ifdef ALLO_TRACE
  if (waveform[0]) {
    simulation->context.traceEverOn(true);
    simulation->trace = new ALLO_TRACER;
    simulation->model->trace(simulation->trace, 99);
    simulation->trace->open(waveform);
  }
#else
  (void)waveform;
#endif
  return simulation;
}

API void allo_sim_delete(void *handle) { delete running(handle); }

API void allo_sim_reset(void *handle) {
  auto *simulation = running(handle);
  Vsim *model = simulation->model;
  set_start(model, 0, 0);
  model->clk = 0;
  model->rst = 1;
#ifdef ALLO_BUS
  simulation->bus.reset();
#endif
  model->eval();
  simulation->edge();
  simulation->edge();
  model->rst = 0;
#ifdef ALLO_BUS
  simulation->bus.reset();
  simulation->bus.violation.clear();
#endif
  model->eval();
  stopped = false; // what is written before the reset has no meaning
  simulation->output.clear();
}

// `facts`: bytes of an element, bytes in all, bits of an element
API void *allo_sim_variable(void *handle, const char *scope, const char *name, std::uint64_t *facts) {
  const VerilatedScope *found = running(handle)->context.scopeFind(scope);
  VerilatedVar *variable = found ? found->varFind(name) : nullptr;
  if (!variable)
    return nullptr;
  facts[0] = variable->entSize();
  facts[1] = variable->totalSize();
  facts[2] = width(variable, 0);
  return variable->datap();
}

// Begin (`start` is 1 at the first edge) or go on; `cycles` counts edges, up to `most`.
API int allo_sim_run(void *handle, int begin, std::uint64_t most, std::uint64_t *cycles) {
  auto *simulation = running(handle);
  Vsim *model = simulation->model;
  std::uint64_t passed = 0;
  stopped = false;
  set_start(model, begin, 0);
#ifdef ALLO_BUS
  if (begin)
    simulation->begin();
#endif
  model->eval();
  Ended ended = limited;
  while (passed < most) {
    simulation->edge();
    ++passed;
    if (begin) {
      begin = 0;
      set_start(model, 0, 0);
      model->eval();
    }
    bool ends = is_done(model, 0), waits = is_stuck(model, 0);
#ifdef ALLO_BUS
    ends = simulation->bus.host->finished();
    waits = *simulation->stuck;
    if (ends)
      for (auto &one : simulation->bus.models)
        one->finish();
    if (!simulation->bus.violation.empty()) {
      allo_sim_print("%s", simulation->bus.violation.c_str());
      stopped = true;
    }
#endif
    if (stopped || ends || waits) {
      ended = stopped ? failed : ends ? done : stuck;
      break;
    }
  }
  *cycles += passed;
#ifdef ALLO_TRACE
  if (simulation->trace)
    simulation->trace->flush();
#endif
  return ended;
}

API const char *allo_sim_output(void *handle) { return running(handle)->output.c_str(); }

#ifdef ALLO_BUS
namespace {
Wire wire_of(Simulation *simulation, const char *scope, const std::string &name) {
  const VerilatedScope *found = simulation->context.scopeFind(scope);
  VerilatedVar *variable = found ? found->varFind(name.c_str()) : nullptr;
  return variable ? Wire{static_cast<unsigned char *>(variable->datap()), variable->totalSize()} : Wire{};
}
} // namespace

// Attach a model to the ports whose names begin with `name`: a memory ('m': `facts` are its bits, latency, and the
// cycles of so many words), a source or a sink of streams ('i', 'o': its bits), a host ('h'). The ports are those of
// the scope `outside` or, in some versions of Verilator, of `top`.
API int allo_bus_attach(void *handle, char kind, const char *name, const char *outside, const char *top,
                        const std::uint64_t *facts) {
  auto *simulation = running(handle);
  Bus &bus = simulation->bus;
  Find find = [=](const std::string &port) {
    Wire found = wire_of(simulation, outside, port);
    return found.data ? found : wire_of(simulation, top, port);
  };
  if (kind == 'm')
    bus.models.push_back(std::make_unique<Memory>(bus, name, find, facts[0], facts[1], Pace{facts[2], facts[3]}));
  else if (kind == 'i')
    bus.models.push_back(std::make_unique<Source>(bus, name, find, facts[0]));
  else if (kind == 'o')
    bus.models.push_back(std::make_unique<Sink>(bus, name, find, facts[0]));
  else {
    auto host = std::make_unique<Host>(bus, name, find);
    bus.host = host.get();
    bus.models.push_back(std::move(host));
  }
  bus.models.back()->reset();
  return static_cast<int>(bus.models.size()) - 1;
}

API void allo_bus_begin(void *handle, const char *scope, std::int64_t seed) { // before a run is described
  auto *simulation = running(handle);
  simulation->bus.regions.clear();
  simulation->bus.host->reset();
  simulation->bus.chance.is_random = seed >= 0;
  simulation->bus.chance.state = static_cast<std::uint64_t>(seed);
  simulation->stuck = wire_of(simulation, scope, "stuck").data;
}

API void allo_bus_region(void *handle, const char *port, std::uint64_t base, void *data, std::uint64_t bytes,
                         std::uint64_t used, int reads, int writes) {
  auto *place = static_cast<unsigned char *>(data);
  running(handle)->bus.regions.push_back({port, base, bytes, place, reads != 0, writes != 0, used});
}

API void allo_bus_stream(void *handle, int model, void *data, std::uint64_t words) {
  Model *found = running(handle)->bus.models[model].get();
  if (auto *source = dynamic_cast<Source *>(found))
    source->data = static_cast<unsigned char *>(data), source->count = words;
  else if (auto *sink = dynamic_cast<Sink *>(found))
    sink->data = static_cast<unsigned char *>(data), sink->count = words;
}

API void allo_bus_step(void *handle, char kind, std::uint64_t place, std::uint64_t value) {
  running(handle)->bus.host->steps.push_back({kind, place, value});
}

API std::uint64_t allo_bus_found(void *handle, std::uint64_t number) { return running(handle)->bus.host->found[number]; }

API void allo_bus_counts(void *handle, int model, std::uint64_t *counts) {
  auto *memory = static_cast<Memory *>(running(handle)->bus.models[model].get());
  std::memcpy(counts, memory->counts, sizeof memory->counts);
}
#endif
