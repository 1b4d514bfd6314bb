// `ac_channel<T>`: the FIFO between blocks; `available` lets others go on first if it has to say no.
#ifndef ALLO_SIM_AC_CHANNEL_H
#define ALLO_SIM_AC_CHANNEL_H

#include "hls_stream.h"

template <class T>
class ac_channel : private hls::stream<T> {
  using base = hls::stream<T>;

 public:
  using base::base;
  using base::read;
  using base::simulated;
  using base::size;
  using base::write;
  ac_channel &at(std::uint32_t site) { return base::at(site), *this; }
  bool nb_read(T &value) { return base::read_nb(value); }
  bool nb_write(const T &value) { return base::write_nb(value); }
  bool available(unsigned count) const { return base::size() >= count || (!base::empty() && base::size() >= count); }
};

#endif
