#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace spikeweave::live {

/// Bytes on their way from one thread to another, without locks.
class byte_ring {
public:
    /// @param capacity  in bytes; a power of two
    explicit byte_ring(std::size_t capacity);

    std::size_t capacity() const { return capacity_; }

    /// How many bytes can be given now. Only the thread that gives them may ask.
    std::size_t room() const;
    /// Gives as many of the bytes as there is room for, and returns their number.
    std::size_t give(std::span<const char> bytes);

    /// Appends all bytes that have come, and returns their number. For the other thread.
    std::size_t take(std::string& into);

private:
    std::size_t capacity_;
    std::unique_ptr<char[]> bytes_;
    // Numbers of all bytes that were ever given and taken, on cache lines of their own.
    alignas(64) std::atomic<std::size_t> given_{0};
    alignas(64) std::atomic<std::size_t> taken_{0};
};

}  // namespace spikeweave::live
