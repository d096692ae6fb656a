#include "spikeweave/record/feature_basis.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

[[noreturn]] void fail_to_compare(const std::string& expected, const std::string& found) {
    throw invalid_argument(
        fmt::format("the components are of {}, and this recording is of {}: features of the two "
                    "cannot be compared",
                    expected, found));
}

// Other programs store positions as text, so they may be rounded.
bool is_same_place(const feature_basis::contact& a, const feature_basis::contact& b) {
    constexpr double nearly_um = 1e-3;
    return a.shank == b.shank && std::abs(a.x_um - b.x_um) <= nearly_um &&
           std::abs(a.y_um - b.y_um) <= nearly_um;
}

std::string filter_text(const feature_basis& basis) {
    return fmt::format("a band from {} to {} Hz of order {} with reference {}", basis.low_hz,
                       basis.high_hz, basis.order, to_string(basis.reference));
}

std::string place_text(const feature_basis& basis, std::size_t channel) {
    const feature_basis::contact& at = basis.contacts[channel];
    return fmt::format("a probe whose channel {} is at ({}, {}) um on shank {}", channel + 1,
                       at.x_um, at.y_um, at.shank);
}

std::string waveform_text(const feature_basis& basis) {
    return fmt::format(
        "{} features a channel of waveforms from {} frames before their peak to {} "
        "after it",
        basis.features_per_channel, basis.frames_before, basis.frames_after);
}

}  // namespace

void check_same_space(const feature_basis& basis, const feature_basis& own) {
    if (basis.contacts.size() != own.contacts.size())
        fail_to_compare(fmt::format("{} channels", basis.contacts.size()),
                        fmt::format("{} channels", own.contacts.size()));
    if (basis.rate_hz != own.rate_hz)
        fail_to_compare(fmt::format("{} samples a second", basis.rate_hz),
                        fmt::format("{} samples a second", own.rate_hz));
    for (std::size_t c = 0; c < own.contacts.size(); ++c)
        if (!is_same_place(basis.contacts[c], own.contacts[c]))
            fail_to_compare(place_text(basis, c), place_text(own, c));
    if (basis.low_hz != own.low_hz || basis.high_hz != own.high_hz || basis.order != own.order ||
        basis.reference != own.reference)
        fail_to_compare(filter_text(basis), filter_text(own));
    if (basis.whiten || own.whiten)
        throw invalid_argument(
            "channels are whitened by the noise of each recording: features of two whitened "
            "recordings cannot be compared");
    if (basis.frames_before != own.frames_before || basis.frames_after != own.frames_after ||
        basis.features_per_channel != own.features_per_channel)
        fail_to_compare(waveform_text(basis), waveform_text(own));
    if (basis.components.size() != basis.feature_count() * basis.frames())
        throw invalid_argument(fmt::format("there are {} numbers of components, expected {}",
                                           basis.components.size(),
                                           basis.feature_count() * basis.frames()));
}

}  // namespace spikeweave
