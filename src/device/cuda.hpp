#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <type_traits>
#include <vector>

#include "device/limits.hpp"

/// Owners of CUDA resources. Streams and buffers are made and destroyed under the `scoped_device`
/// that they belong to, a stream before its buffers.
namespace spikeweave::device {

/// Checks the result of a CUDA call.
/// @throws device_error naming the call site and CUDA's error, which is cleared. (clang 14
/// does not know std::source_location.)
void check(cudaError_t result, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// Makes a device the current one of the calling thread until the end of the scope.
class scoped_device {
public:
    /// @throws device_error if there is no such device.
    explicit scoped_device(int ordinal);
    ~scoped_device();
    scoped_device(const scoped_device&) = delete;
    scoped_device& operator=(const scoped_device&) = delete;

private:
    int before_ = 0;
};

class stream {
public:
    stream();

    cudaStream_t get() const noexcept { return handle_.get(); }
    void wait() const { check(cudaStreamSynchronize(get())); }

private:
    struct destroy {
        void operator()(cudaStream_t handle) const noexcept { cudaStreamDestroy(handle); }
    };
    std::unique_ptr<std::remove_pointer_t<cudaStream_t>, destroy> handle_{};
};
static_assert(sizeof(stream) == sizeof(void*));

/// A point in the work of a stream.
class event {
public:
    event();

    cudaEvent_t get() const noexcept { return handle_.get(); }
    void record(const stream& on) const { check(cudaEventRecord(get(), on.get())); }
    void wait() const { check(cudaEventSynchronize(get())); }
    /// Makes later work on the stream wait for this point.
    void make_wait(const stream& later) const { check(cudaStreamWaitEvent(later.get(), get(), 0)); }
    /// The time from `earlier` to this point; both must have passed.
    double seconds_since(const event& earlier) const;

private:
    struct destroy {
        void operator()(cudaEvent_t handle) const noexcept { cudaEventDestroy(handle); }
    };
    std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, destroy> handle_{};
};

/// Measures the time between two points of a stream.
class stopwatch {
public:
    void start(const stream& on) const { began_.record(on); }
    void stop(const stream& on) const { ended_.record(on); }
    /// The time between the last start and stop. Wait for the stream first.
    double seconds() const { return ended_.seconds_since(began_); }

private:
    event began_;
    event ended_;
};

/// Allocates memory of the current device in the order of a stream, from our own pool, which keeps
/// memory that is released.
/// @throws device_error saying how much was needed and how much there is.
void* allocate(std::size_t bytes, cudaStream_t on);
/// Allocates page-locked host memory, usable by all devices, from blocks that the process keeps,
/// because locking pages takes longer than copying them. @throws device_error.
void* allocate_pinned(std::size_t bytes);
/// Releases the memory. No copy from or to it may be pending.
void release_pinned(void* memory) noexcept;

/// Uninitialised device memory that belongs to one stream.
template <class T>
class buffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    buffer() = default;
    buffer(std::size_t size, const stream& on)
        : memory_(size > 0 ? static_cast<T*>(allocate(size * sizeof(T), on.get())) : nullptr,
                  release{on.get()}),
          size_(size) {}
    buffer(std::span<const T> from, const stream& on) : buffer(from.size(), on) { upload(from); }

    T* data() const noexcept { return memory_.get(); }
    std::size_t size() const noexcept { return size_; }

    /// `from` may be destroyed as soon as this returns; if it is page-locked, only after the stream
    /// has been waited for.
    void upload(std::span<const T> from, std::size_t at = 0) {
        copy(memory_.get() + at, from.data(), from.size(), cudaMemcpyHostToDevice);
    }
    /// `to` holds the values once the stream has been waited for.
    void download(std::span<T> to, std::size_t from = 0) const {
        copy(to.data(), memory_.get() + from, to.size(), cudaMemcpyDeviceToHost);
    }
    /// Waits for the stream and returns all values.
    std::vector<T> downloaded() const {
        std::vector<T> values(size_);
        download(values);
        check(cudaStreamSynchronize(memory_.get_deleter().on));
        return values;
    }
    /// Sets every byte.
    void fill(unsigned char value) {
        if (size_ > 0)
            check(
                cudaMemsetAsync(memory_.get(), value, size_ * sizeof(T), memory_.get_deleter().on));
    }

private:
    struct release {
        cudaStream_t on = nullptr;
        void operator()(T* memory) const noexcept { cudaFreeAsync(memory, on); }
    };
    void copy(T* to, const T* from, std::size_t n, cudaMemcpyKind kind) const {
        if (n > 0) check(cudaMemcpyAsync(to, from, n * sizeof(T), kind, memory_.get_deleter().on));
    }

    std::unique_ptr<T, release> memory_{};
    std::size_t size_ = 0;
};

/// Page-locked host memory. Copies from and to it run concurrently with other work, and must have
/// ended before it is destroyed.
template <class T>
class host_buffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    host_buffer() = default;
    explicit host_buffer(std::size_t size)
        : memory_(size > 0 ? static_cast<T*>(allocate_pinned(size * sizeof(T))) : nullptr),
          size_(size) {}

    T* data() const noexcept { return memory_.get(); }
    std::size_t size() const noexcept { return size_; }
    std::span<T> span() const noexcept { return {memory_.get(), size_}; }

private:
    struct release {
        void operator()(T* memory) const noexcept { release_pinned(memory); }
    };
    std::unique_ptr<T, release> memory_{};
    std::size_t size_ = 0;
};

/// Passes a request to stop on to kernels that run for longer than a second: they check `flag()`
/// from time to time and end early once it is not 0.
class stop_flag {
public:
    stop_flag();

    const volatile int* flag() const noexcept { return memory_.data(); }
    /// Waits for the stream and passes on a request to stop.
    /// @throws cancelled once the stream is done, if a stop was requested.
    void wait(const stream& on, const std::stop_token& stop);

private:
    host_buffer<int> memory_;
};

}  // namespace spikeweave::device
