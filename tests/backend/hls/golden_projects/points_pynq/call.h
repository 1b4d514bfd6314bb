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
  Words<uint64_t> words_ps(memory[0], 4);
  Words<uint8_t> words_by(memory[1], 1);
  Words<uint8_t> words_result(memory[2], 1);
  points_top(words_ps.data(), *words_by.data(), words_result.data());
  words_ps.bring_back();
  words_result.bring_back();
}
