#pragma once
#include <cstring>
#include <map>
#include <vector>

#include "xrt_bo.h"

namespace xrt {
class kernel {
public:
  kernel(const device &, const uuid &id, const std::string &name) {
    void *library = dlopen(("./" + id.path).c_str(), RTLD_NOW);
    if (!library) { throw std::runtime_error(dlerror()); }
    if (!dlsym(library, name.c_str())) { throw std::runtime_error("no kernel " + name); }
    void *own = dlsym(library, ("fake_entry_" + name).c_str());  // where a binary has several kernels
    entry = reinterpret_cast<void (*)(void **)>(own ? own : dlsym(library, "fake_entry"));
  }
  int group_id(int) const { return 0; }
  void (*entry)(void **);
};
class run {
public:
  explicit run(const kernel &of) : entry(of.entry) {}
  void set_arg(int position, const bo &buffer) { arguments[position] = buffer.address(); }
  template <typename T> void set_arg(int position, const T &number) {
    std::vector<char> &copy = numbers[position];
    copy.resize(sizeof number);
    std::memcpy(copy.data(), &number, sizeof number);
    arguments[position] = copy.data();
  }
  void start() {
    std::vector<void *> memory;
    for (auto &entry : arguments) { memory.push_back(entry.second); }
    entry(memory.data());
  }
  void wait() {}

private:
  void (*entry)(void **);
  std::map<int, void *> arguments;
  std::map<int, std::vector<char>> numbers;
};
} // namespace xrt
