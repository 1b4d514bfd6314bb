// Calls the kernel with arguments in memory, one block each, in their order.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "kernel.h"

// a word of a port, and the bytes that hold it
template <typename T> struct Word {
  static const std::size_t bytes = sizeof(T);
  static void get(T &word, const char *place) { std::memcpy(&word, place, bytes); }
  static void put(const T &word, char *place) { std::memcpy(place, &word, bytes); }
};
template <int W> struct Word<ap_uint<W>> {
  static const std::size_t bytes = W / 8;
  static void get(ap_uint<W> &word, const char *place) {
    for (int low = 0; low < W; low += 64) {
      unsigned long long part = 0;
      std::memcpy(&part, place + low / 8, 8);
      word.range(low + 63, low) = ap_uint<64>(part);
    }
  }
  static void put(const ap_uint<W> &word, char *place) {
    for (int low = 0; low < W; low += 64) {
      unsigned long long part = ap_uint<64>(word.range(low + 63, low)).to_uint64();
      std::memcpy(place + low / 8, &part, 8);
    }
  }
};

// the words in a block of memory, which get back what the kernel writes
template <typename T> class Words {
public:
  Words(void *memory, std::size_t count) : memory(static_cast<char *>(memory)), words(count) {
    for (std::size_t n = 0; n < count; n++) { Word<T>::get(words[n], this->memory + n * Word<T>::bytes); }
  }
  T *data() { return words.data(); }
  void bring_back() const {
    for (std::size_t n = 0; n < words.size(); n++) { Word<T>::put(words[n], memory + n * Word<T>::bytes); }
  }

private:
  char *memory;
  std::vector<T> words;
};

static inline void call_kernel(void **memory) {
  (void)memory;
  Words<ap_uint<128>> words_B(memory[1], 16);
  gemm_top(static_cast<float *>(memory[0]), words_B.data(), static_cast<float *>(memory[2]));
}
