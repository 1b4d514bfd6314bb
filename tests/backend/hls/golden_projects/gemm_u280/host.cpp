// Runs the kernel on a card, or in emulation, on the files in data/: ./host kernel.hw.xclbin [data] [device]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>

#include "data.h"

template <typename T> static void set_number(xrt::run &run, int position, const std::vector<char> &data) {
  T number;
  std::memcpy(&number, data.data(), sizeof number);
  run.set_arg(position, number);
}

static void set_number(xrt::run &run, int position, const std::vector<char> &data) {
  switch (data.size()) {
  case 1: return set_number<uint8_t>(run, position, data);
  case 2: return set_number<uint16_t>(run, position, data);
  case 4: return set_number<uint32_t>(run, position, data);
  default: return set_number<uint64_t>(run, position, data);
  }
}

static void run_kernel(const std::string &binary, const std::string &folder, unsigned index) {
  xrt::device device(index);
  xrt::kernel kernel(device, device.load_xclbin(binary), KERNEL);
  xrt::run run(kernel);
  std::vector<std::vector<char>> data;
  std::vector<xrt::bo> buffers;
  for (int n = 0; ARGUMENTS[n].name; n++) {
    const Argument &argument = ARGUMENTS[n];
    data.push_back(read_data(folder, argument));
    if (argument.kind == Kind::number) {
      set_number(run, n, data.back());
      buffers.push_back(xrt::bo());
      continue;
    }
    buffers.push_back(xrt::bo(device, argument.bytes, kernel.group_id(n)));
    buffers.back().write(data.back().data(), argument.bytes, 0);
    buffers.back().sync(XCL_BO_SYNC_BO_TO_DEVICE);
    run.set_arg(n, buffers.back());
  }
  auto start = std::chrono::steady_clock::now();
  run.start();
  run.wait();
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  for (int n = 0; ARGUMENTS[n].name; n++) {
    if (!ARGUMENTS[n].written) { continue; }
    buffers[n].sync(XCL_BO_SYNC_BO_FROM_DEVICE);
    buffers[n].read(data[n].data(), ARGUMENTS[n].bytes, 0);
    write_data(folder, ARGUMENTS[n], data[n]);
  }
  std::printf("%s: %.6f ms\n", KERNEL, elapsed.count());
}

int main(int count, char **words) {
  if (count < 2) {
    std::fprintf(stderr, "usage: %s kernel.xclbin [data] [device]\n", words[0]);
    return 2;
  }
  try {
    run_kernel(words[1], count > 2 ? words[2] : "data", count > 3 ? std::stoul(words[3]) : 0);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", KERNEL, error.what());
    return 1;
  }
  return 0;
}
