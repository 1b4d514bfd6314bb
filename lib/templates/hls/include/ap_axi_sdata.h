// Decides the packets of AXI4-Stream: data with side channels; a channel of width 0 keeps one bit that is not used.
#ifndef ALLO_SIM_AP_AXI_SDATA_H
#define ALLO_SIM_AP_AXI_SDATA_H

#include "ap_int.h"
#include "hls_stream.h"

namespace allo_sim {

template <class Data, int Width, int User, int Id, int Dest>
struct axi_packet {
  static constexpr int bytes = (Width + 7) / 8;

  Data data;
  ap_uint<bytes> keep;
  ap_uint<bytes> strb;
  ap_uint<(User > 0 ? User : 1)> user;
  ap_uint<1> last;
  ap_uint<(Id > 0 ? Id : 1)> id;
  ap_uint<(Dest > 0 ? Dest : 1)> dest;

  Data get_data() const { return data; }
  void set_data(const Data &value) { data = value; }
  ap_uint<bytes> get_keep() const { return keep; }
  void set_keep(const ap_uint<bytes> &value) { keep = value; }
  bool get_last() const { return last != 0; }
  void set_last(bool value) { last = value; }
  void keep_all() { keep = strb = ~ap_uint<bytes>(0); }
};

}  // namespace allo_sim

template <int Width, int User = 0, int Id = 0, int Dest = 0>
using ap_axiu = allo_sim::axi_packet<ap_uint<Width>, Width, User, Id, Dest>;
template <int Width, int User = 0, int Id = 0, int Dest = 0>
using ap_axis = allo_sim::axi_packet<ap_int<Width>, Width, User, Id, Dest>;

namespace hls {

/// A packet of any type of data.
template <class T, int User = 0, int Id = 0, int Dest = 0>
using axis = allo_sim::axi_packet<T, int(8 * sizeof(T)), User, Id, Dest>;

}  // namespace hls

#endif
