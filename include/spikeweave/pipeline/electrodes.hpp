#pragma once

#include <cstdint>
#include <string_view>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/spikes/files.hpp"

/// Kinds of electrodes that the defaults of the analyses do not suit.
namespace spikeweave {

enum class electrode_kind : std::uint8_t { culture, neuropixels, tetrode, utah };

template <>
SPIKEWEAVE_API enum_table<electrode_kind> enum_names<electrode_kind>();

/// The reasons for the options of a kind of electrodes, as sentences; empty if there are none.
struct electrode_reasons {
    std::string_view sort{};
    std::string_view episodes{};
};

/// Sets the options of sorting, and of reading the units for `episodes`, that these electrodes
/// need. A rate limit that is already set is kept.
SPIKEWEAVE_API electrode_reasons adapt_to(electrode_kind electrodes, sort_options& sorting,
                                          spike_read_options& reading);

}  // namespace spikeweave
