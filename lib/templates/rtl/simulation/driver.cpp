// Functions that drive any model with the ports clk, rst, start, done and stuck: the same text for all of them.
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
    delete model;
  }

  void dump([[maybe_unused]] bool up) {
#ifdef ALLO_TRACE
    if (trace)
      trace->dump(2 * edges + up); // two steps a cycle, the rising edge first
#endif
  }

  void edge() { // seen between two evaluations
    model->clk = 1;
    model->eval();
    dump(false);
    model->clk = 0;
    model->eval();
    dump(true);
    ++edges;
  }
};

// Bits of an element: Verilator 5.006 tells them in another way.
template <typename Variable> std::uint64_t width(Variable *variable) {
  if constexpr (requires { variable->entBits(); })
    return variable->entBits();
  else
    return variable->packed().elements();
}

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
  model->start = 0;
  model->clk = 0;
  model->rst = 1;
  model->eval();
  simulation->edge();
  simulation->edge();
  model->rst = 0;
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
  facts[2] = width(variable);
  return variable->datap();
}

// Begin (`start` is 1 at the first edge) or go on; `cycles` counts edges, up to `most`.
API int allo_sim_run(void *handle, int begin, std::uint64_t most, std::uint64_t *cycles) {
  auto *simulation = running(handle);
  Vsim *model = simulation->model;
  std::uint64_t passed = 0;
  stopped = false;
  model->start = begin;
  model->eval();
  Ended ended = limited;
  while (passed < most) {
    simulation->edge();
    ++passed;
    if (begin) {
      begin = 0;
      model->start = 0;
      model->eval();
    }
    if (stopped || model->done || model->stuck) {
      ended = stopped ? failed : model->done ? done : stuck;
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
