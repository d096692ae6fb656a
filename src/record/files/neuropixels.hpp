#pragma once

#include <cstdint>
#include <string_view>

namespace spikeweave::record {

/// The forms in which SpikeGLX lists the contacts that a probe reads, as entries "(…)" of
/// `imroTbl`.
enum class imro_layout : std::uint8_t {
    banks,       ///< channel, bank, reference, gain of the AP band, gain of the LF band(, filter)
    groups,      ///< group of 16 channels, two banks; the head has the gains
    electrodes,  ///< channel, bank, reference, electrode
    shanks,      ///< channel, shank, bank, reference, electrode
};

/// A model of Neuropixels probes: contacts in rows and columns, numbered from the tip, row by row.
struct neuropixels_model {
    /// Part numbers, separated by blanks.
    std::string_view parts;
    double column_pitch_um;
    double row_pitch_um;
    /// Even rows are shifted by this.
    double stagger_um;
    std::uint32_t columns;
    std::uint32_t rows;
    std::uint32_t shanks;
    double shank_pitch_um;
    int adc_bits;
    /// The gain of all channels; 0 if each channel has its own.
    double gain;
    imro_layout layout;
};

/// Returns the model that a part number belongs to, or null for a number that is not known.
const neuropixels_model* find_neuropixels(std::string_view part);

/// Returns the model that a type number stands for, by which files before 2021 name a probe: "0",
/// "21", "24", or the digits of a part number.
const neuropixels_model* find_neuropixels_of_type(std::string_view type);

struct contact_place {
    double x_um;
    double y_um;
};

/// Returns where a contact is. Positions count from the lower left contact of the first shank, as
/// those of probeinterface.
contact_place place_of(const neuropixels_model& model, std::uint32_t shank, std::uint32_t column,
                       std::uint32_t row);

/// Columns of a probe with groups in which channels are connected to the first of two banks.
enum class group_columns : std::uint8_t { inner, outer, all };

/// Returns the contact of a channel of a probe with groups (NP1110); `banks` are those of its
/// group.
struct group_banks {
    std::uint32_t first;
    std::uint32_t second;
};
std::uint32_t group_of_channel(std::uint32_t channel);
std::uint32_t contact_of_group(std::uint32_t channel, group_banks banks, group_columns columns);

}  // namespace spikeweave::record
