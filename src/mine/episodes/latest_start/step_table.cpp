#include "mine/episodes/latest_start/step_table.hpp"

#include <bit>

namespace spikeweave::episodes {

step_table::step_table(const builder& collected)
    : bits_(words_of(collected.spikes_in_all_)),
      windows_before_(bits_.size()),
      windows_(collected.last_) {
    for (std::size_t i = 0; i < windows_.size(); ++i) {
        const auto& [spike, reached] = collected.entries_[i + 1];
        bits_[spike / 64] |= std::uint64_t{1} << spike % 64;
        windows_[i] = reached;
    }
    std::uint32_t before = 0;
    for (std::size_t w = 0; w < bits_.size(); ++w) {
        windows_before_[w] = before;
        before += bit_count(bits_[w]);
    }
}

void step_table::spikes_that_reach(std::uint32_t* out) const {
    for (std::size_t w = 0; w < bits_.size(); ++w) {
        for (std::uint64_t bits = bits_[w]; bits != 0; bits &= bits - 1)
            *out++ = static_cast<std::uint32_t>(w * 64 +
                                                static_cast<std::size_t>(std::countr_zero(bits)));
    }
}

void collect_step(const indexed_train& from, const indexed_train& target, const interval_us& step,
                  step_table::builder& out) {
    out.begin(from.size);
    const indexed_train to = target;
    std::uint32_t begin = 0;
    for (std::uint32_t spike = 0; spike < from.size; ++spike) {
        const std::int64_t time = from.times_us[spike];
        begin = to.first_after(time + step.low, begin);
        for (std::uint32_t i = begin; to.times_us[i] <= time + step.high; ++i) out.add(spike, i);
    }
}

}  // namespace spikeweave::episodes
