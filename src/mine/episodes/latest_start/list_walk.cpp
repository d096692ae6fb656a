#include "mine/episodes/latest_start/list_walk.hpp"

#include <algorithm>

namespace spikeweave::episodes {

numbered_steps::numbered_steps(const candidate_set& sorted) : steps_each(sorted.size - 1) {
    std::vector<episode_step> all;
    for (std::size_t c = 0; c < sorted.count(); ++c) {
        for (std::size_t k = 0; k < steps_each; ++k)
            all.push_back(
                {sorted.units_of(c)[k], sorted.delays_of(c)[k], sorted.units_of(c)[k + 1]});
    }
    distinct = all;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    numbers.reserve(all.size());
    for (const episode_step& step : all)
        numbers.push_back(static_cast<std::uint32_t>(
            std::lower_bound(distinct.begin(), distinct.end(), step) - distinct.begin()));
}

std::vector<std::size_t> numbered_steps::pieces() const {
    const std::size_t candidates = numbers.size() / steps_each;
    std::vector<std::size_t> begins;
    for (std::size_t c = 0; c < candidates; ++c) {
        if (c == 0 || steps_of(c).front() != steps_of(c - 1).front()) begins.push_back(c);
    }
    begins.push_back(candidates);
    return begins;
}

survivor_view prefix_walk::survivors(std::size_t candidate, bool begin_anew) {
    const auto steps = numbered_.steps_of(candidate);
    std::size_t first = 0;
    if (!begin_anew) {
        const auto previous = numbered_.steps_of(previous_);
        const auto differ = std::mismatch(steps.begin(), steps.end(), previous.begin()).first;
        first = static_cast<std::size_t>(differ - steps.begin());
    }
    for (std::size_t step = first; step < steps.size(); ++step) {
        if (step == 0) {
            steps_.begin(steps[0], buffers_[0]);
        } else {
            steps_.extend(buffers_[step - 1].view(), steps[step], buffers_[step]);
        }
    }
    previous_ = candidate;
    return buffers_.back().view();
}

}  // namespace spikeweave::episodes
