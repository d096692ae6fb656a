#include "device/cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::device {
namespace {

int attribute(cudaDeviceAttr which, int ordinal) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, ordinal));
    return value;
}

int current_device() {
    int ordinal = 0;
    check(cudaGetDevice(&ordinal));
    return ordinal;
}

cudaMemPool_t make_pool(int ordinal) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, ordinal};
    cudaMemPool_t pool{};
    check(cudaMemPoolCreate(&pool, &properties));
    // Memory is kept from one level of a search to the next, because releasing and allocating it
    // again takes longer than small kernels do.
    std::uint64_t keep = UINT64_MAX;
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    return pool;
}

// One pool per device. Pools are never destroyed, because the driver may shut down before static
// objects do.
cudaMemPool_t pool_of(int ordinal) {
    static std::mutex access;
    static auto& pools = *new std::map<int, cudaMemPool_t>;
    const std::lock_guard lock(access);
    const auto known = pools.find(ordinal);
    if (known != pools.end()) return known->second;
    return pools.emplace(ordinal, make_pool(ordinal)).first->second;
}

std::uint64_t pool_bytes(cudaMemPool_t pool, cudaMemPoolAttr which) {
    std::uint64_t bytes = 0;
    check(cudaMemPoolGetAttribute(pool, which, &bytes));
    return bytes;
}

struct memory_bytes {
    std::uint64_t free;
    std::uint64_t total;
};

memory_bytes memory_of_current_device() {
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total));
    const cudaMemPool_t pool = pool_of(current_device());
    return {free + pool_bytes(pool, cudaMemPoolAttrReservedMemCurrent) -
                pool_bytes(pool, cudaMemPoolAttrUsedMemCurrent),
            total};
}

// Page-locked memory in blocks of powers of two, kept for the next request.
class pinned_pool {
public:
    void* take(std::size_t bytes) {
        const std::size_t size = std::bit_ceil(std::max(bytes, smallest));
        {
            const std::lock_guard lock(access_);
            const auto free = std::find_if(blocks_.begin(), blocks_.end(), [size](const block& b) {
                return !b.used && b.bytes == size;
            });
            if (free != blocks_.end()) {
                free->used = true;
                kept_ -= size;
                return free->memory;
            }
        }
        void* memory = locked(size);
        const std::lock_guard lock(access_);
        blocks_.push_back({memory, size, true});
        return memory;
    }

    void give_back(void* memory) noexcept {
        const std::lock_guard lock(access_);
        const auto at = std::find_if(blocks_.begin(), blocks_.end(),
                                     [memory](const block& b) { return b.memory == memory; });
        if (kept_ + at->bytes > most_kept) {
            cudaFreeHost(memory);
            blocks_.erase(at);
            return;
        }
        kept_ += at->bytes;
        at->used = false;
    }

private:
    struct block {
        void* memory;
        std::size_t bytes;
        bool used;
    };
    static constexpr std::size_t smallest = 4096;
    static constexpr std::size_t most_kept = std::size_t{128} << 20;

    static void* locked(std::size_t bytes) {
        void* memory = nullptr;
        const cudaError_t result = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
        if (result == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            throw device_error(
                fmt::format("this computer has too little memory for copies from and to the GPU: "
                            "{} page-locked bytes more were needed",
                            bytes));
        }
        check(result);
        return memory;
    }

    std::mutex access_;
    std::vector<block> blocks_;
    std::size_t kept_ = 0;  // bytes not in use
};

// Never destroyed, because the driver, which unlocks all pages, may shut down before static objects
// do.
pinned_pool& pinned() {
    static auto& pool = *new pinned_pool;
    return pool;
}

// All limits except the free memory.
device_limits asked_limits_of_current_device() {
    const int ordinal = current_device();
    const auto get = [ordinal](cudaDeviceAttr which) { return attribute(which, ordinal); };
    const auto bytes = [ordinal](cudaDeviceAttr which) {
        return static_cast<std::size_t>(attribute(which, ordinal));
    };
    return {.compute_major = get(cudaDevAttrComputeCapabilityMajor),
            .compute_minor = get(cudaDevAttrComputeCapabilityMinor),
            .multiprocessors = get(cudaDevAttrMultiProcessorCount),
            .warp_size = get(cudaDevAttrWarpSize),
            .threads_per_block = get(cudaDevAttrMaxThreadsPerBlock),
            .threads_per_multiprocessor = get(cudaDevAttrMaxThreadsPerMultiProcessor),
            .blocks_per_multiprocessor = get(cudaDevAttrMaxBlocksPerMultiprocessor),
            .registers_per_multiprocessor = get(cudaDevAttrMaxRegistersPerMultiprocessor),
            .shared_bytes_per_block = bytes(cudaDevAttrMaxSharedMemoryPerBlock),
            .shared_bytes_per_block_at_most = bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin),
            .shared_bytes_per_multiprocessor = bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
            .l2_bytes = bytes(cudaDevAttrL2CacheSize),
            .total_bytes = memory_of_current_device().total};
}

// Queried once, because the query is slow. It applies to the current device.
device_limits fixed_limits_of(int ordinal) {
    static std::mutex access;
    static std::map<int, device_limits> known;
    const std::lock_guard lock(access);
    const auto there = known.find(ordinal);
    if (there != known.end()) return there->second;
    return known.emplace(ordinal, asked_limits_of_current_device()).first->second;
}

[[noreturn]] void throw_out_of_memory(std::size_t bytes) {
    const auto [free, total] = memory_of_current_device();
    throw device_error(fmt::format(
        "GPU {} has too little memory: {} bytes more were needed, {} of its {} are free",
        current_device(), bytes, free, total));
}

std::string_view hint_for(cudaError_t error) {
    switch (error) {
        case cudaErrorNoKernelImageForDevice:
            return "; this spikeweave was built for other GPUs (CMAKE_CUDA_ARCHITECTURES)";
        case cudaErrorDevicesUnavailable:
            return "; another process may hold it";
        case cudaErrorECCUncorrectable:
        case cudaErrorHardwareStackError:
        case cudaErrorLaunchFailure:
        case cudaErrorUnknown:
            return "; this process has lost the GPU: start it again";
        default:
            return "";
    }
}

}  // namespace

void check(cudaError_t result, const char* file, int line) {
    if (result == cudaSuccess) return;
    cudaGetLastError();
    const std::string_view path = file;
    throw device_error(fmt::format("the GPU failed: {} ({}) at {}:{}{}", cudaGetErrorString(result),
                                   cudaGetErrorName(result), path.substr(path.rfind('/') + 1), line,
                                   hint_for(result)));
}

scoped_device::scoped_device(int ordinal) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        cudaGetLastError();
        throw device_error(
            fmt::format("there is no GPU {}: {}", ordinal, device_unavailable_reason()));
    }
    if (ordinal < 0 || ordinal >= count)
        throw device_error(
            fmt::format("there is no GPU {}: they are numbered 0 to {}", ordinal, count - 1));
    check(cudaGetDevice(&before_));
    check(cudaSetDevice(ordinal));
}

scoped_device::~scoped_device() {
    cudaSetDevice(before_);
}

stream::stream() {
    cudaStream_t raw{};
    check(cudaStreamCreateWithFlags(&raw, cudaStreamNonBlocking));
    handle_.reset(raw);
}

event::event() {
    cudaEvent_t raw{};
    check(cudaEventCreate(&raw));
    handle_.reset(raw);
}

double event::seconds_since(const event& earlier) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, earlier.get(), get()));
    return static_cast<double>(milliseconds) / 1000;
}

void* allocate(std::size_t bytes, cudaStream_t on) {
    void* memory = nullptr;
    const cudaError_t result =
        cudaMallocFromPoolAsync(&memory, bytes, pool_of(current_device()), on);
    if (result == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        throw_out_of_memory(bytes);
    }
    check(result);
    return memory;
}

void* allocate_pinned(std::size_t bytes) {
    return pinned().take(bytes);
}

void release_pinned(void* memory) noexcept {
    pinned().give_back(memory);
}

stop_flag::stop_flag() : memory_(1) {
    *memory_.data() = 0;
}

void stop_flag::wait(const stream& on, const std::stop_token& stop) {
    using namespace std::chrono_literals;
    // Most work ends within a millisecond; after that, a delay in noticing the end does not matter.
    constexpr auto spin = 1ms;
    const auto began = std::chrono::steady_clock::now();
    for (;;) {
        const cudaError_t state = cudaStreamQuery(on.get());
        if (state != cudaErrorNotReady) {
            check(state);
            break;
        }
        if (stop.stop_requested()) *static_cast<volatile int*>(memory_.data()) = 1;
        if (std::chrono::steady_clock::now() - began > spin) std::this_thread::sleep_for(50us);
    }
    if (stop.stop_requested()) throw cancelled();
}

bool built() {
    return true;
}

device_limits limits_of(int ordinal) {
    const scoped_device on(ordinal);
    device_limits limits = fixed_limits_of(ordinal);
    limits.free_bytes = memory_of_current_device().free;
    return limits;
}

std::uint64_t total_bytes_of(int ordinal) {
    const scoped_device on(ordinal);
    return fixed_limits_of(ordinal).total_bytes;
}

}  // namespace spikeweave::device
