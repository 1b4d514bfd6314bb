// Devices, buffers and queues of TT-Metalium as its library exports them.
#pragma once
#include "tt-metalium/host_api.hpp"

namespace tt::tt_metal::distributed {
class MeshShape {};
class MeshCoordinateRange {
   public:
    explicit MeshCoordinateRange(const MeshShape& shape);
};
class MeshBuffer;
class MeshCommandQueue;
class MeshCommandQueueBase {  // whose functions templates of the headers call, which the wheel does not have
   public:
    void enqueue_write_mesh_buffer(const std::shared_ptr<MeshBuffer>& buffer, const void* data, bool blocking);
    void enqueue_read_mesh_buffer(void* data, const std::shared_ptr<MeshBuffer>& buffer, bool blocking);
};
class MeshCommandQueue : public MeshCommandQueueBase {};
class MeshDevice {
   public:
    static std::shared_ptr<MeshDevice> create_unit_mesh(
        int device_id,
        size_t l1_small_size = 0,
        size_t trace_region_size = 0,
        size_t num_command_queues = 1,
        const DispatchCoreConfig& dispatch = {},
        std::span<const uint32_t> l1_bank_remap = {},
        size_t worker_l1_size = 0);
    MeshCommandQueue& mesh_command_queue(std::optional<uint8_t> number = std::nullopt) const;
    const MeshShape& shape() const;
    CoreCoord worker_core_from_logical_core(const CoreCoord& core) const;
    bool close();
};
struct DeviceLocalBufferConfig {
    uint64_t page_size = 0;
    BufferType buffer_type = BufferType::DRAM;
};
struct ReplicatedBufferConfig {
    uint64_t size = 0;
};
struct ShardedBufferConfig {};
class MeshBuffer {
   public:
    static std::shared_ptr<MeshBuffer> create(
        const std::variant<ReplicatedBufferConfig, ShardedBufferConfig>& mesh,
        const DeviceLocalBufferConfig& local,
        MeshDevice* device,
        std::optional<uint64_t> address = std::nullopt);
    uint64_t address() const { return address_; }
    uint64_t size() const;

   private:
    uint64_t address_ = 0;
};
class MeshWorkload {
   public:
    MeshWorkload();
    ~MeshWorkload();
    void add_program(const MeshCoordinateRange& range, Program&& program);
};
template <typename T>
void EnqueueWriteMeshBuffer(
    MeshCommandQueue& queue, std::shared_ptr<MeshBuffer>& buffer, std::vector<T>& data, bool blocking = false) {
    queue.enqueue_write_mesh_buffer(buffer, data.data(), blocking);
}
template <typename T>
void EnqueueReadMeshBuffer(
    MeshCommandQueue& queue, std::vector<T>& data, std::shared_ptr<MeshBuffer>& buffer, bool blocking = true) {
    data.resize(buffer->size() / sizeof(T));
    queue.enqueue_read_mesh_buffer(data.data(), buffer, blocking);
}
void EnqueueMeshWorkload(MeshCommandQueue& queue, MeshWorkload& workload, bool blocking);
void Finish(MeshCommandQueue& queue, std::span<const SubDeviceId> sub_devices = {});
}  // namespace tt::tt_metal::distributed
