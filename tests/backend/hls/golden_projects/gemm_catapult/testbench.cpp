// Runs the kernel once on the files in data/ (or in the folder that is named); the HLS tool simulates with it.
#include <cstdio>
#include <exception>
#include <string>

#include "call.h"
#include "data.h"

CCS_MAIN(int count, char **words) {
  const std::string folder = count > 1 ? words[1] : "data";
  try {
    Blocks blocks(folder);
    call_kernel(blocks.memory());
    if (!blocks.write()) { return 1; }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", KERNEL, error.what());
    return 1;
  }
  return 0;
}
