#include "live/sources/open_ephys_messages.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "fuzz/harness.hpp"
#include "live/sources/open_ephys_samples.hpp"

namespace spikeweave::fuzz {
namespace {

std::vector<std::string_view> split_at(std::string_view bytes, char by) {
    std::vector<std::string_view> parts;
    for (std::size_t end = bytes.find(by); end != std::string_view::npos; end = bytes.find(by)) {
        parts.push_back(bytes.substr(0, end));
        bytes.remove_prefix(end + 1);
    }
    parts.push_back(bytes);
    return parts;
}

// Watermarks of an epoch rise, and neither they nor spikes leap further than a window may have to
// be mined for.
void check_blocks(live::open_ephys_messages& messages, std::size_t& units,
                  std::optional<std::int64_t>& watermark_us) {
    while (const auto block = messages.complete()) {
        units += block->new_units.size();
        if (block->begins_epoch) watermark_us.reset();
        for (const live::spike_event& spike : block->spikes)
            require(to_index(spike.unit) < units, "a spike is of a unit that was not told");
        if (!block->watermark_us) continue;
        require(!watermark_us || *block->watermark_us > *watermark_us, "a watermark goes back");
        require(!watermark_us || *block->watermark_us - *watermark_us <=
                                     live::open_ephys_messages::longest_leap_us,
                "a watermark leaps");
        watermark_us = block->watermark_us;
    }
}

}  // namespace

// A message is a line, whose frames are separated by tabs; the first byte chooses the sender.
SPIKEWEAVE_FUZZ_TARGET(open_ephys_messages, bytes, nullptr) {
    const bool broadcasts = bytes.starts_with('b');
    live::open_ephys_messages messages(broadcasts ? live::open_ephys_sender::event_broadcaster
                                                  : live::open_ephys_sender::zmq_interface,
                                       "probe", {"n0"});
    std::size_t units = 1;
    std::optional<std::int64_t> watermark_us;
    for (const std::string_view line : split_at(bytes, '\n')) {
        count_messages(1);
        messages.take(split_at(line, '\t'));
        check_blocks(messages, units, watermark_us);
    }
}

// The same lines, whose third frame has samples of two channels.
SPIKEWEAVE_FUZZ_TARGET(open_ephys_samples, bytes, nullptr) {
    live::open_ephys_samples samples("probe", {.channels = {{}, {}}, .rate_hz = 30'000});
    std::optional<std::int64_t> end;
    for (const std::string_view line : split_at(bytes, '\n')) {
        count_messages(1);
        try {
            samples.take(split_at(line, '\t'));
        } catch (const io_error&) {
            return;  // other channels or another rate, which ends a session
        }
        while (const auto block = samples.complete()) {
            require(!block->counts.empty() && block->counts.size() % 2 == 0, "a frame is cut");
            require(!end || block->begins_epoch ||
                        block->first - *end == static_cast<std::int64_t>(block->missing),
                    "frames are neither there nor missing");
            end = block->first + static_cast<std::int64_t>(block->counts.size() / 2);
        }
    }
}

}  // namespace spikeweave::fuzz
