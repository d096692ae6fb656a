#include "live/sources/json_lines.hpp"

#include <algorithm>

#include "fuzz/harness.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(json_lines, bytes, nullptr) {
    count_messages(1 + static_cast<std::uint64_t>(std::ranges::count(bytes, '\n')));
    live::json_lines from(folder.file("s.jsonl", bytes), {"n0"});
    std::size_t units = 1;
    while (const auto block = from.next()) {
        units += block->new_units.size();
        require(from.unit_names().size() == units, "a unit appears that was not told");
        for (const live::spike_event& spike : block->spikes)
            require(to_index(spike.unit) < units, "a spike is of a unit that was not told");
    }
}

}  // namespace spikeweave::fuzz
