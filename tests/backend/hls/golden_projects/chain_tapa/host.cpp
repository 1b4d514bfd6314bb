// Runs the kernel on the files in data/: ./host [binary [data]], as C++ if there is no binary
#include <cstdio>
#include <exception>
#include <string>

#include "call.h"
#include "data.h"

int main(int count, char **words) {
  const std::string binary = count > 1 ? words[1] : "";
  const std::string folder = count > 2 ? words[2] : "data";
  try {
    Blocks blocks(folder);
    const double milliseconds = 1e-6 * static_cast<double>(call_kernel(blocks.memory(), binary));
    std::printf("%s: %.6f ms\n", KERNEL, milliseconds);
    if (!blocks.write()) { return 1; }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", KERNEL, error.what());
    return 1;
  }
  return 0;
}
