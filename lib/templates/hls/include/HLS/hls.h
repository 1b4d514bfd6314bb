// What kernels for the Intel HLS compiler include: the mark of a component, attributes of memories, streams.
#ifndef ALLO_SIM_HLS_HLS_H
#define ALLO_SIM_HLS_HLS_H

#include "../hls_stream.h"

#define component
#define hls_register
#define hls_memory
#define hls_singlepump
#define hls_bankwidth(bytes)
#define hls_bankbits(...)
#define hls_memory_impl(kind)

namespace ihls {

/// The end of a stream that a component reads.
template <class T>
class stream_in : public hls::stream<T> {
 public:
  T tryRead(bool &success) {
    T value{};
    success = hls::stream<T>::read_nb(value);
    return value;
  }
};

/// The end of a stream that a component writes.
template <class T>
class stream_out : public hls::stream<T> {
 public:
  bool tryWrite(const T &value) { return hls::stream<T>::write_nb(value); }
};

}  // namespace ihls

#endif
