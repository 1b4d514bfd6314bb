// Reads and writes the files of arguments.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "arguments.h"

// what the kernel gets for an argument: its file, or zeros for one that it only writes
static inline std::vector<char> read_data(const std::string &folder, const Argument &argument) {
  if (!argument.read) { return std::vector<char>(argument.bytes); }
  std::string path = folder + "/" + argument.name + ".bin";
  std::ifstream file(path, std::ios::binary);
  if (!file) { throw std::runtime_error("cannot read " + path); }
  std::vector<char> data((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (data.size() != argument.bytes) {
    throw std::runtime_error(path + " has " + std::to_string(data.size()) + " bytes, the kernel needs " +
                             std::to_string(argument.bytes));
  }
  return data;
}

static inline void write_data(const std::string &folder, const Argument &argument, const std::vector<char> &data) {
  std::string path = folder + "/" + argument.name + ".out.bin";
  std::ofstream file(path, std::ios::binary);
  file.write(data.data(), static_cast<std::streamsize>(data.size()));
  if (!file.flush()) { throw std::runtime_error("cannot write " + path); }
}

template <typename T>
static inline std::size_t different(const std::vector<char> &data, const std::vector<char> &wanted, T tolerance) {
  std::size_t count = 0;
  for (std::size_t n = 0; n + sizeof(T) <= wanted.size(); n += sizeof(T)) {
    T value, expected;
    std::memcpy(&value, &data[n], sizeof value);
    std::memcpy(&expected, &wanted[n], sizeof expected);
    bool same = std::memcmp(&value, &expected, sizeof value) == 0 || (std::isnan(value) && std::isnan(expected));
    count += !(same || std::fabs(value - expected) <= tolerance * std::fabs(expected));
  }
  return count;
}

// how many elements (bytes, where they are no floats) are others than data/<name>.expected.bin has, if it is there:
// the last bits of functions such as exp are not the same everywhere
static inline std::size_t differences(const std::string &folder, const Argument &argument,
                                      const std::vector<char> &data) {
  std::ifstream file(folder + "/" + argument.name + ".expected.bin", std::ios::binary);
  if (!file) { return 0; }
  std::vector<char> wanted((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (wanted.size() != data.size()) { return data.size(); }
  if (argument.element == Element::single) { return different<float>(data, wanted, 1e-4f); }
  if (argument.element == Element::twice) { return different<double>(data, wanted, 1e-10); }
  std::size_t count = 0;
  for (std::size_t n = 0; n < data.size(); n++) { count += data[n] != wanted[n]; }
  return count;
}

// the data of all arguments, a block each, for one call of the kernel
class Blocks {
public:
  explicit Blocks(const std::string &folder) : folder(folder) {
    for (const Argument *argument = ARGUMENTS; argument->name; argument++) { data.push_back(read_data(folder, *argument)); }
    for (std::vector<char> &block : data) { addresses.push_back(block.data()); }
  }
  void **memory() { return addresses.data(); }
  // writes what the kernel has written; whether all of it is as expected
  bool write() const {
    bool good = true;
    for (std::size_t n = 0; n < data.size(); n++) {
      if (!ARGUMENTS[n].written) { continue; }
      write_data(folder, ARGUMENTS[n], data[n]);
      const std::size_t count = differences(folder, ARGUMENTS[n], data[n]);
      if (count == 0) { continue; }
      std::fprintf(stderr, "%s: %zu values of %s are not the expected ones\n", KERNEL, count, ARGUMENTS[n].name);
      good = false;
    }
    return good;
  }

private:
  std::string folder;
  std::vector<std::vector<char>> data;
  std::vector<void *> addresses;
};
