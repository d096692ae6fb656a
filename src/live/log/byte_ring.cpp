#include "live/log/byte_ring.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {

byte_ring::byte_ring(std::size_t capacity) : capacity_(capacity) {
    if (!std::has_single_bit(capacity))
        throw invalid_argument("ring_bytes", "it is not a power of two");
    bytes_ = std::make_unique<char[]>(capacity);
}

std::size_t byte_ring::room() const {
    return capacity_ -
           (given_.load(std::memory_order_relaxed) - taken_.load(std::memory_order_acquire));
}

std::size_t byte_ring::give(std::span<const char> bytes) {
    const std::size_t count = std::min(bytes.size(), room());
    const std::size_t given = given_.load(std::memory_order_relaxed);
    const std::size_t at = given & (capacity_ - 1);
    const std::size_t before_end = std::min(count, capacity_ - at);
    std::memcpy(bytes_.get() + at, bytes.data(), before_end);
    std::memcpy(bytes_.get(), bytes.data() + before_end, count - before_end);
    given_.store(given + count, std::memory_order_release);
    return count;
}

std::size_t byte_ring::take(std::string& into) {
    const std::size_t taken = taken_.load(std::memory_order_relaxed);
    const std::size_t count = given_.load(std::memory_order_acquire) - taken;
    const std::size_t at = taken & (capacity_ - 1);
    const std::size_t before_end = std::min(count, capacity_ - at);
    into.append(bytes_.get() + at, before_end);
    into.append(bytes_.get(), count - before_end);
    taken_.store(taken + count, std::memory_order_release);
    return count;
}

}  // namespace spikeweave::live
