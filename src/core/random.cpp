#include "spikeweave/core/random.hpp"

#include <Random123/philox.h>

namespace spikeweave {

// The key holds the seed. Two of the counter's four words identify the stream, one the purpose, and
// the last counts blocks.
random_stream::random_stream(std::uint64_t seed, random_purpose purpose, std::uint32_t index,
                             std::uint32_t sub_index)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, static_cast<std::uint32_t>(purpose) << 24, index, sub_index} {}

void random_stream::refill() {
    const r123::Philox4x32::ctr_type counter{{counter_[0], counter_[1], counter_[2], counter_[3]}};
    const r123::Philox4x32::key_type key{{key_[0], key_[1]}};
    const auto words = r123::Philox4x32{}(counter, key);
    block_ = {words[0], words[1], words[2], words[3]};
    // The count carries over into 24 bits of the second word: 2^56 blocks per stream.
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
}

std::uint32_t random_stream::next_u32() {
    if (used_ == block_.size()) refill();
    return block_[used_++];
}

std::uint64_t random_stream::next_u64() {
    const std::uint64_t high = next_u32();
    return high << 32 | next_u32();
}

double random_stream::uniform() {
    return static_cast<double>(next_u64() >> 11) * 0x1p-53;
}

std::uint64_t random_stream::below(std::uint64_t bound) {
    __extension__ using wide = unsigned __int128;
    wide product = static_cast<wide>(next_u64()) * bound;
    // The threshold is below the bound and costs a division, so it is only computed if needed.
    if (static_cast<std::uint64_t>(product) < bound) {
        const std::uint64_t threshold = (0 - bound) % bound;
        while (static_cast<std::uint64_t>(product) < threshold)
            product = static_cast<wide>(next_u64()) * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
}

// Draw u1 > u2 > … as long as they fall. A run of odd length accepts u1 as the fraction; each
// rejected run adds 1.
double random_stream::exponential() {
    for (double whole = 0;; whole += 1) {
        const double first = uniform();
        double last = first;
        bool odd = true;
        for (double next = uniform(); next < last; next = uniform()) {
            last = next;
            odd = !odd;
        }
        if (odd) return whole + first;
    }
}

}  // namespace spikeweave
