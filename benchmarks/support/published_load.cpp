#include "benchmarks/support/published_load.hpp"

#include <algorithm>
#include <cstdint>

#include "spikeweave/core/random.hpp"

std::vector<spikeweave::episode> published_candidates(const spikeweave::delay_interval& step) {
    using namespace spikeweave;
    constexpr std::size_t wanted = 43'656;
    std::vector<std::vector<unit_id>> partners(published_units);
    random_stream random(1, random_purpose::poisson_spikes, UINT32_MAX);
    for (std::uint32_t u = 0; u < published_units; ++u) {
        while (partners[u].size() < 9) {
            const unit_id to{static_cast<std::uint32_t>(random.below(published_units))};
            if (to_index(to) != u &&
                std::find(partners[u].begin(), partners[u].end(), to) == partners[u].end())
                partners[u].push_back(to);
        }
    }
    std::vector<episode> walks;
    for (std::uint32_t a = 0; a < published_units; ++a) {
        for (const unit_id b : partners[a]) {
            for (const unit_id c : partners[to_index(b)]) {
                for (const unit_id d : partners[to_index(c)])
                    walks.push_back({{unit_id{a}, b, c, d}, {step, step, step}});
            }
        }
    }
    walks.resize(wanted);
    return walks;
}
