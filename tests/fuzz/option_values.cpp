#include <functional>

#include "../apps/spikeweave/values.hpp"
#include "fuzz/harness.hpp"
#include "spikeweave/mine/episode.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave::fuzz {
namespace {

// Invalid values may be refused, but must not fail in another way.
bool is_taken(const std::function<void()>& parse) {
    try {
        parse();
        return true;
    } catch (const invalid_argument&) {
        return false;
    }
}

}  // namespace

SPIKEWEAVE_FUZZ_TARGET(option_values, bytes, nullptr) {
    is_taken([&] {
        const duration time = parse_duration(bytes);
        require(parse_duration(format_duration(time)) == time, "a time comes back as another");
    });
    is_taken([&] {
        const std::vector<delay_interval> delays = parse_delays(bytes);
        require(parse_delays(format_delays(delays)) == delays, "intervals come back as others");
    });
    // Few steps, because a grid of millions of them is none that this could find faults in.
    if (bytes.size() < 12) is_taken([&] { parse_delay_grid(bytes); });
    is_taken([&] { cli::parse_whole_32(bytes); });
    is_taken([&] { cli::parse_threads(bytes); });
    is_taken([&] { cli::parse_fraction(bytes); });
    is_taken([&] { cli::parse_share(bytes); });
    is_taken([&] { cli::parse_memory(bytes); });
    is_taken([&] { cli::parse_names(bytes); });
    is_taken([&] { cli::parse_chains(bytes); });
    is_taken([&] { value_named<spike_format>(bytes); });
}

}  // namespace spikeweave::fuzz
