#include <functional>

#include "fuzz/harness.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/mine/episodes.hpp"
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
    // One option of each kind.
    std::uint32_t whole = 0;
    double number = 0;
    std::uint64_t memory = 0;
    std::vector<std::string> names;
    std::vector<std::uint32_t> numbers;
    option_list options;
    options.add("whole", whole, "").at_least(1);
    options.add("number", number, "").above(0).at_most(1);
    options.add("memory", memory, "").in_bytes();
    options.add("names", names, "");
    options.add("numbers", numbers, "");
    for (const option& one : options) is_taken([&] { one.set_text(bytes); });
    is_taken([&] { value_named<spike_format>(bytes); });
}

}  // namespace spikeweave::fuzz
