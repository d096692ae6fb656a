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

/// Ownership of what the CUDA runtime hands out. Streams and buffers are made and destroyed under
/// the `scoped_device` that they belong to, a stream before its buffers.
namespace spikeweave::device {

/// @throws device_error naming the call site and CUDA's error, which is cleared. (clang-tidy 14
/// does not know std::source_location.)
void check(cudaError_t result, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// Makes a device the calling thread's own until the end of the scope.
class scoped_device {
public:
    /// @throws device_error if there is no such device.
    explicit scoped_device(int ordinal);
    ~scoped_device();
    scoped_device(const scoped_device&) = delete;
    scoped_device(scoped_device&&) = delete;
    scoped_device& operator=(const scoped_device&) = delete;
    scoped_device& operator=(scoped_device&&) = delete;

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

/// A moment on a stream.
class event {
public:
    event();

    cudaEvent_t get() const noexcept { return handle_.get(); }
    void record(const stream& on) const { check(cudaEventRecord(get(), on.get())); }
    void wait() const { check(cudaEventSynchronize(get())); }
    /// Later work on the stream waits for this moment.
    void hold(const stream& later) const { check(cudaStreamWaitEvent(later.get(), get(), 0)); }
    /// From `earlier` to this; both have passed.
    double seconds_since(const event& earlier) const;

private:
    struct destroy {
        void operator()(cudaEvent_t handle) const noexcept { cudaEventDestroy(handle); }
    };
    std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, destroy> handle_{};
};

/// Measures between two moments of a stream.
class stopwatch {
public:
    void start(const stream& on) const { began_.record(on); }
    void stop(const stream& on) const { ended_.record(on); }
    /// Of the last start and stop, once the stream has been waited for.
    double seconds() const { return ended_.seconds_since(began_); }

private:
    event began_;
    event ended_;
};

/// Memory of the current device, in the order of a stream, from a pool of ours that keeps what is
/// given back.
/// @throws device_error saying how much was needed and how much there is.
void* allocate(std::size_t bytes, cudaStream_t on);
/// Page-locked memory of this computer, for all devices, of what the process keeps of it: to lock
/// pages takes longer than to copy them. @throws device_error.
void* allocate_pinned(std::size_t bytes);
/// Nothing may be copied from or to it any more.
void release_pinned(void* memory) noexcept;

/// Uninitialised device memory that lives on one stream.
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

    /// `from` may go as soon as this returns, unless it is page-locked: then after the stream.
    void upload(std::span<const T> from, std::size_t at = 0) {
        copy(memory_.get() + at, from.data(), from.size(), cudaMemcpyHostToDevice);
    }
    /// `to` holds the values once the stream has been waited for.
    void download(std::span<T> to, std::size_t from = 0) const {
        copy(to.data(), memory_.get() + from, to.size(), cudaMemcpyDeviceToHost);
    }
    /// All of it, after waiting for the stream.
    std::vector<T> downloaded() const {
        std::vector<T> values(size_);
        download(values);
        check(cudaStreamSynchronize(memory_.get_deleter().on));
        return values;
    }
    /// Every byte of it.
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

/// Page-locked memory of this computer: copies from and to it run beside everything else, and have
/// ended before it goes.
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

/// How a request to stop reaches kernels that run for longer than a second: they look at `flag()`
/// now and then, and end early once it is not 0.
class stop_flag {
public:
    stop_flag();

    const volatile int* flag() const noexcept { return memory_.data(); }
    /// Waits for the stream and passes a request on.
    /// @throws cancelled once the stream is done, if it was requested.
    void wait(const stream& on, const std::stop_token& stop);

private:
    host_buffer<int> memory_;
};

}  // namespace spikeweave::device
