#include "spikeweave/core/options.hpp"

#include <algorithm>

#include "spikes/files/time_scale.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave {

using spikes::time_scale;

option_list describe(spike_read_options& options) {
    option_list list;
    list.begin_group("Input");
    list.add("format", options.format,
             "format of the spike file; auto recognises it from the content");
    option& unit =
        list.add("time_unit", options.time_unit,
                 "unit of the times in text and npy files: s, ms, us, ns or samples:RATE")
            .basic();
    unit.written("UNIT").by_default("as stated in the file, else seconds");
    unit.obeys([&text = options.time_unit] {
        if (!text.empty()) static_cast<void>(time_scale::from(text));
    });
    unit.may_be_unset = true;
    unit.get = [&text = options.time_unit]() -> option_value {
        if (text.empty()) return nullptr;
        return text;
    };
    list.add("allow_negative", options.allow_negative,
             "accept times before zero, as in recordings aligned to an event");
    list.add("labels", options.labels,
             "use only units with these labels, such as good,mua; all uses every unit. Phy folders "
             "(cluster_group.tsv, else those of the sorter), NWB files (columns quality, label and "
             "the like), .kwik files and results of sort have labels")
        .by_default("good, if units are labelled good or mua; else all but noise")
        .written("LABEL,...")
        .obeys([&labels = options.labels] {
            if (labels.size() > 1 && std::ranges::count(labels, "all") > 0)
                throw invalid_argument("all selects every label, and must be the only one");
        });
    list.add("only_units", options.only_units,
             "use only these units, except those that other options leave out; also groups, and "
             "wells of a plate, such as B1 for B1_11, B1_12")
        .basic()
        .written("A,B,...");
    list.add("drop_duplicates_of_units", options.drop_duplicates_of_units,
             "leave out units that repeat another one because a sorter counted a neuron twice: "
             "most of their spikes are within 0.3 ms of the other unit's, more than synchrony "
             "explains; of two such units, the one with fewer spikes is left out");
    list.add_all(describe(options.cleaning));
    list.add("groups", options.groups,
             "combine units into groups, each of which is analysed as one unit: a file with a unit "
             "and its group on each line; units that are not listed stay as they are, and a group "
             "keeps only those of its units that no other option leaves out")
        .written("FILE");
    list.add("group_window", options.group_window,
             "after each spike that counts, ignore further spikes of its group for this long")
        .at_least(0)
        .only_with("groups");
    list.add("layout", options.layout,
             "where the units are: a file with a unit, x and y in micrometres on each line")
        .written("FILE")
        .by_default("as the file states, or the names of electrodes of an array");
    return list;
}

}  // namespace spikeweave
