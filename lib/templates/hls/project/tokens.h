#include <stdexcept>
#include <string>

// a stream, and the block of memory that has its elements in their order
template <typename T> class Tokens {
public:
  Tokens(const char *name, void *memory, std::size_t count)
      : stream(name), name(name), memory(static_cast<char *>(memory)), count(count) {}
  void fill() {
    for (std::size_t n = 0; n < count; n++) {
      T token;
      std::memcpy(&token, memory + n * sizeof token, sizeof token);
      stream.write(token);
    }
  }
  void drain() {
    for (std::size_t n = 0; n < count; n++) {
      if (stream.empty()) { throw std::runtime_error("the kernel put too few elements into " + name); }
      T token = stream.read();
      std::memcpy(memory + n * sizeof token, &token, sizeof token);
    }
    require_empty();
  }
  void require_empty() {
    if (!stream.empty()) { throw std::runtime_error("elements are left in " + name); }
  }

  hls::stream<T> stream;

private:
  std::string name;
  char *memory;
  std::size_t count;
};
