#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/record/preprocess.hpp"

namespace spikeweave {

/// The meaning of `detection_result::features`: how traces were made, which part of them is a
/// waveform, and the principal components that waveforms were projected on. Features of
/// two recordings can be compared only if both were projected on the same components.
struct feature_basis {
    /// A contact of the probe, in micrometres.
    struct contact {
        double x_um = 0;
        double y_um = 0;
        std::uint32_t shank = 0;

        friend bool operator==(const contact&, const contact&) = default;
    };
    std::vector<contact> contacts{};  ///< one per channel
    double rate_hz = 0;
    double low_hz = 0;
    double high_hz = 0;
    std::uint32_t order = 0;
    common_reference reference = common_reference::none;  ///< never `automatic`
    bool whiten = false;
    /// Frames of a waveform before and after its peak.
    std::uint32_t frames_before = 0;
    std::uint32_t frames_after = 0;
    std::uint32_t features_per_channel = 0;
    /// `[channel][component][frame]`.
    std::vector<float> components{};

    std::size_t frames() const { return std::size_t{frames_before} + frames_after + 1; }
    std::size_t feature_count() const { return contacts.size() * features_per_channel; }

    friend bool operator==(const feature_basis&, const feature_basis&) = default;
};

/// Checks that two bases differ only in their components.
/// @param own the basis of the recording; its components are ignored
/// @throws invalid_argument naming the difference, or if traces are whitened, because each
/// recording is whitened by its own noise.
SPIKEWEAVE_API void check_same_space(const feature_basis& basis, const feature_basis& own);

}  // namespace spikeweave
