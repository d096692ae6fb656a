#pragma once

#include <algorithm>
#include <cstddef>
#include <stop_token>
#include <utility>

#include "core/stop.hpp"
#include "device/cuda.hpp"

namespace spikeweave::episodes {

/// A stream that adds up the time of the kernels launched on it, and ends the run between kernels
/// if that is asked for.
class timed_stream {
public:
    explicit timed_stream(std::stop_token stop) : stop_(std::move(stop)) {}

    const device::stream& stream() const { return on_; }
    cudaStream_t get() const { return on_.get(); }
    double kernel_seconds() const { return kernel_seconds_; }

    /// Waits for what `launch` starts. @throws cancelled
    template <class Launch>
    void run(const Launch& launch) {
        watch_.start(on_);
        launch();
        device::check(cudaGetLastError());
        watch_.stop(on_);
        on_.wait();
        kernel_seconds_ += watch_.seconds();
        core::throw_if_stopped(stop_);
    }

    /// Runs an algorithm of CUB, which returns the space that it needs if it is called with a null
    /// pointer.
    template <class Call>
    void run_with_space(const Call& call) {
        std::size_t bytes = 0;
        device::check(call(nullptr, bytes));
        const device::buffer<unsigned char> space(std::max<std::size_t>(bytes, 1), on_);
        run([&] { device::check(call(space.data(), bytes)); });
    }

private:
    std::stop_token stop_;
    device::stream on_;
    device::stopwatch watch_;
    double kernel_seconds_ = 0;
};

}  // namespace spikeweave::episodes
