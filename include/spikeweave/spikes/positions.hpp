#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "spikeweave/core/export.hpp"

/// Where units or their electrodes are.
namespace spikeweave {

/// A position in micrometres; y grows upwards.
struct unit_place {
    double x_um = 0;
    double y_um = 0;

    friend bool operator==(const unit_place&, const unit_place&) = default;
};

/// The positions of units by their names; units without one may be missing.
using unit_places = std::map<std::string, unit_place, std::less<>>;

/// Reads a file with the name of a unit, x and y in micrometres on each line, with blanks, tabs or
/// commas between them. Lines that begin with # are left out.
/// @throws io_error with the line if it is not of this form, or names a unit again.
SPIKEWEAVE_API unit_places read_layout(const std::filesystem::path& path);

/// The positions that the names of electrodes of arrays by Multi Channel Systems state: the column
/// and the row of 8 x 8 (12 to 87) or the letter of the column and the row of larger arrays (A2 to
/// R15), 200 um apart. Letters before the numbers (El_12) and one after them, which tells the units
/// of an electrode apart (12a), are accepted. Nothing unless every name has this form and there are
/// 16 or more, since other names can look like these.
SPIKEWEAVE_API unit_places places_of_electrodes(std::span<const std::string> names);

/// The positions of the electrodes of an 8 x 8 array by Multi Channel Systems that are called by
/// the numbers of their channels, from 0 to 59, as in MEABench and the recordings of Wagenaar et
/// al. (2006).
SPIKEWEAVE_API unit_places places_of_channels(std::span<const std::string> names);

}  // namespace spikeweave
