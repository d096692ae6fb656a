#include "report/common_units.hpp"

#include <set>
#include <string>
#include <utility>

#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::report {

std::vector<unit_map> join_units(std::span<spike_sequence* const> sequences) {
    std::set<std::string> names;
    for (const spike_sequence* const one : sequences)
        names.insert(one->unit_names().begin(), one->unit_names().end());
    std::vector<unit_map> maps;
    for (spike_sequence* const one : sequences) {
        const std::vector<std::string> own_names = one->unit_names();
        spike_sequence_builder joined;
        for (const std::string& name : names) joined.unit(name);
        unit_map units;
        for (const std::string& name : own_names) units.push_back(joined.unit(name));
        for (std::size_t i = 0; i < one->size(); ++i)
            joined.append(one->times_us()[i], units[to_index(one->units()[i])]);
        *one = taken_from(*one, joined.finish(one->span()));
        units.clear();  // `finish` numbers units anew
        for (const std::string& name : own_names) units.push_back(one->unit(name));
        maps.push_back(std::move(units));
    }
    return maps;
}

}  // namespace spikeweave::report
