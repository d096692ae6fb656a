#include "spikeweave/pipeline/electrodes.hpp"

namespace spikeweave {

template <>
enum_table<electrode_kind> enum_names<electrode_kind>() {
    using enum electrode_kind;
    static constexpr named_value<electrode_kind> values[]{
        {culture, "culture"}, {neuropixels, "neuropixels"}, {tetrode, "tetrode"}, {utah, "utah"}};
    return {"kind of electrodes", values};
}

electrode_reasons adapt_to(electrode_kind electrodes, sort_options& sorting,
                           spike_read_options& reading) {
    if (electrodes == electrode_kind::neuropixels) {
        constexpr double most_hz = 70;
        if (!reading.cleaning.max_rate) reading.cleaning.max_rate = most_hz;
        return {.episodes = "Units that fire too fast for one neuron are left out."};
    }
    sorting.motion.model = motion_model::none;
    switch (electrodes) {
        case electrode_kind::tetrode:
            sorting.detection.neighbours = 100;
            return {"The contacts of a tetrode share spikes, and cannot show motion."};
        case electrode_kind::utah:
            sorting.detection.neighbours = 1;
            return {"Electrodes 400 um apart share no spikes: each is sorted by itself."};
        default:
            return {"The electrodes of a culture do not move."};
    }
}

}  // namespace spikeweave
