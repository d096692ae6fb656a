#include "pipeline/divided_time.hpp"

#include <cmath>

#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::pipeline {

divided_time divide_time(const std::vector<time_span>& blocks, double share) {
    divided_time out;
    double held_out = 0;
    double seen = 0;
    for (const time_span& block : blocks) {
        constexpr double rounding = 1e-9;
        const double now = std::floor(share * ++seen + rounding);
        (now > held_out ? out.held_out : out.searched).push_back(block);
        held_out = now;
    }
    if (out.searched.empty() || out.held_out.empty())
        throw invalid_argument("hold_out",
                               "the recording has too few epochs or blocks (`hold_out_block`) to "
                               "hold out this share of them");
    return out;
}

std::vector<time_span> blocks_of(const time_span& span, duration length) {
    std::vector<time_span> blocks = regular_trials(span, length, duration{0});
    // The last one holds the last spike. That it is a microsecond longer changes no test, because
    // each part is tested as a whole.
    if (!blocks.empty()) blocks.back().end = span.end + duration{1};
    return blocks;
}

}  // namespace spikeweave::pipeline
