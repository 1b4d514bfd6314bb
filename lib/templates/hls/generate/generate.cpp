// Says tokens on a card: ./generate generate.hw.xclbin COUNT TOKEN... prints the prompt with COUNT tokens behind it.
// Weights go to the card once; caches stay there from call to call.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>

#include "kernels.h"

static std::vector<char> read_weights(const Argument &argument) {
  const std::string path = std::string("data/") + argument.name + ".bin";
  std::ifstream file(path, std::ios::binary);
  std::vector<char> data((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (data.size() != argument.bytes) {
    throw std::runtime_error(path + " has " + std::to_string(data.size()) + " bytes, the kernel needs " +
                             std::to_string(argument.bytes));
  }
  return data;
}

// the buffers that kernels share, by name
using Shared = std::map<std::string, xrt::bo>;

class Model {
public:
  Model(xrt::device &device, const xrt::uuid &binary, const Kernel &description, Shared &shared)
      : description(description), kernel(device, binary, description.name), run(kernel) {
    int position = 0;
    for (const Argument &argument : description.arguments) {
      const bool is_shared = argument.role == Role::state || argument.role == Role::weight;
      xrt::bo buffer;
      if (is_shared && shared.count(argument.name)) {
        buffer = shared[argument.name];
      } else {
        buffer = xrt::bo(device, argument.bytes, kernel.group_id(position));
        const std::vector<char> data =
            argument.role == Role::weight ? read_weights(argument) : std::vector<char>(argument.bytes);
        buffer.write(data.data(), argument.bytes, 0);
        buffer.sync(XCL_BO_SYNC_BO_TO_DEVICE);
        if (is_shared) { shared[argument.name] = buffer; }
      }
      buffers.push_back(buffer);
      run.set_arg(position++, buffer);
    }
  }

  // the scores of the token behind `tokens`, which stand from `position` on
  std::vector<Score> operator()(const Token *tokens, Position position) {
    for (std::size_t n = 0; n < buffers.size(); n++) {
      const Role role = description.arguments[n].role;
      if (role == Role::token) { send(n, tokens); }
      if (role == Role::position) { send(n, &position); }
    }
    run.start();
    run.wait();
    for (std::size_t n = 0; n < buffers.size(); n++) {
      if (description.arguments[n].role != Role::scores) { continue; }
      std::vector<Score> all(description.arguments[n].bytes / sizeof(Score));
      buffers[n].sync(XCL_BO_SYNC_BO_FROM_DEVICE);
      buffers[n].read(all.data(), description.arguments[n].bytes, 0);
      return std::vector<Score>(all.end() - VOCABULARY, all.end());
    }
    throw std::runtime_error("the kernel has no scores");
  }

private:
  void send(std::size_t number, const void *data) {
    buffers[number].write(data, description.arguments[number].bytes, 0);
    buffers[number].sync(XCL_BO_SYNC_BO_TO_DEVICE);
  }

  const Kernel &description;
  xrt::kernel kernel;
  xrt::run run;
  std::vector<xrt::bo> buffers;
};

static void generate(const std::string &path, std::size_t count, std::vector<Token> said) {
  const std::size_t wanted = said.size() + count;
  if (wanted > POSITIONS + 1) {
    throw std::runtime_error(std::to_string(wanted) + " tokens are more than the caches hold");
  }
  xrt::device device(0);
  const xrt::uuid binary = device.load_xclbin(path);
  Shared shared;
  Model decode(device, binary, DECODE, shared);
  std::vector<Score> scores;
  std::size_t done = 0;
  const auto start = std::chrono::steady_clock::now();
#ifdef HAS_PREFILL
  Model prefill(device, binary, PREFILL, shared);
  if (said.size() >= PREFILL.tokens) {
    scores = prefill(said.data(), 0);
    done = PREFILL.tokens;
  }
#endif
  std::chrono::duration<double, std::milli> first{};
  while (said.size() < wanted) {
    for (; done < said.size(); done++) { scores = decode(&said[done], static_cast<Position>(done)); }
    if (first.count() == 0) { first = std::chrono::steady_clock::now() - start; }
    said.push_back(static_cast<Token>(std::max_element(scores.begin(), scores.end()) - scores.begin()));
  }
  const std::chrono::duration<double, std::milli> all = std::chrono::steady_clock::now() - start;
  for (Token token : said) { std::printf("%lld ", static_cast<long long>(token)); }
  std::printf("\nfirst token after %.6f ms, all after %.6f ms\n", first.count(), all.count());
}

int main(int count, char **words) {
  if (count < 4) {
    std::fprintf(stderr, "usage: %s generate.xclbin COUNT TOKEN...\n", words[0]);
    return 2;
  }
  try {
    std::vector<Token> prompt;
    for (int n = 3; n < count; n++) { prompt.push_back(static_cast<Token>(std::stoll(words[n]))); }
    generate(words[1], std::stoul(words[2]), prompt);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", words[0], error.what());
    return 1;
  }
  return 0;
}
