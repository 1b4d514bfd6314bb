// Runs the kernel once on the files in data/ (or in the folder that is named); the HLS tool simulates with it.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "call.h"
#include "data.h"

int main(int count, char **words) {
  const std::string folder = count > 1 ? words[1] : "data";
  try {
    std::vector<std::vector<char>> data;
    for (const Argument *argument = ARGUMENTS; argument->name; argument++) {
      data.push_back(read_data(folder, *argument));
    }
    std::vector<void *> memory;
    for (std::vector<char> &block : data) { memory.push_back(block.data()); }
    call_kernel(memory.data());
    std::size_t wrong = 0;
    for (std::size_t n = 0; n < data.size(); n++) {
      if (!ARGUMENTS[n].written) { continue; }
      write_data(folder, ARGUMENTS[n], data[n]);
      const std::size_t count = differences(folder, ARGUMENTS[n], data[n]);
      if (count) { std::fprintf(stderr, "%s: %zu values of %s are not the expected ones\n", KERNEL, count, ARGUMENTS[n].name); }
      wrong += count;
    }
    if (wrong) { return 1; }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", KERNEL, error.what());
    return 1;
  }
  return 0;
}
