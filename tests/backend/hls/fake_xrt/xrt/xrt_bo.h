#pragma once
#include <cstring>
#include <memory>
#include <vector>

#include "xrt_device.h"

enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE, XCL_BO_SYNC_BO_FROM_DEVICE };

namespace xrt {
// two copies, as there are two memories: what is not synchronised is not seen
class bo {
public:
  bo() = default;
  bo(const device &, size_t bytes, int) : host(std::make_shared<std::vector<char>>(bytes)), card(std::make_shared<std::vector<char>>(bytes)) {}
  void write(const void *source, size_t bytes, size_t offset) { std::memcpy(host->data() + offset, source, bytes); }
  void read(void *target, size_t bytes, size_t offset) { std::memcpy(target, host->data() + offset, bytes); }
  void sync(xclBOSyncDirection direction) {
    if (direction == XCL_BO_SYNC_BO_TO_DEVICE) { *card = *host; } else { *host = *card; }
  }
  void *address() const { return card->data(); }

private:
  std::shared_ptr<std::vector<char>> host, card;
};
} // namespace xrt
