#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/record/feature_basis.hpp"
#include "spikeweave/record/motion.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/sort/quality.hpp"

/// Sorting by templates that are known: of the next file, or of samples while they are recorded.
namespace spikeweave {

/// A spike that was found by its template.
struct template_spike {
    std::int64_t frame = 0;
    float fraction = 0;      ///< offset from the frame, in frames
    std::uint32_t unit = 0;  ///< index of the template
    float amplitude = 1;     ///< relative to the template

    friend bool operator==(const template_spike&, const template_spike&) = default;
};

/// A place in the traces of which no template leaves little enough.
struct unexplained_detection {
    std::int64_t frame = 0;
    std::uint32_t channel = 0;  ///< where it is largest
    float size = 0;             ///< in standard deviations of the noise

    friend bool operator==(const unexplained_detection&, const unexplained_detection&) = default;
};

/// A full sentence about so many of them; empty if they are too few for a unit.
SPIKEWEAVE_API std::string warning_of_unexplained(std::uint64_t detections, double seconds);

/// The units of a recording as templates, with all that finding their spikes in another recording
/// of the same probe needs: filter, common reference, whitening, noise, thresholds and believed
/// amplitudes. A value type: copies share immutable data. `sort_by_templates` learns it if
/// `template_options::learns_set` is true.
class SPIKEWEAVE_API template_set {
public:
    struct SPIKEWEAVE_LOCAL parts;

    /// An empty set without units.
    template_set();
    explicit template_set(std::shared_ptr<const parts> what);

    std::size_t unit_count() const;
    /// The channel on which each unit is largest.
    const std::vector<std::uint32_t>& peak_channels() const;
    /// The filter, the contacts, and the features of the spikes from which the templates were made.
    const feature_basis& basis() const;
    /// The labels of the units in the recording that the templates were made of; empty: not known.
    const std::vector<unit_verdict>& verdicts() const;
    /// The same templates with these labels, one for each unit.
    template_set with_verdicts(std::vector<unit_verdict> of_units) const;

    /// For the library: `parts` is not part of the interface.
    const parts& internals() const { return *parts_; }

private:
    std::shared_ptr<const parts> parts_;
};

/// Writes an `.npz`, described in docs/formats.md. A set read back finds the same spikes.
/// @throws io_error
SPIKEWEAVE_API void write_templates(const std::filesystem::path& path, const template_set& set);
/// The bytes of this file.
SPIKEWEAVE_API std::string archive_of(const template_set& set);
/// Reads such a file, or the templates that a recorded session of `run_live` has learned.
/// @throws io_error naming the file, the array, what was found and expected.
SPIKEWEAVE_API template_set read_templates(const std::filesystem::path& path);

/// The motion that an `online_sorter` follows from the first sample on, when nothing is known of
/// it.
/// @param model  automatic: as the probe decides
SPIKEWEAVE_API probe_motion unmoved(const recording_description& of,
                                    motion_model model = motion_model::automatic);

/// Finds the spikes of known units in samples that arrive piece by piece, by matching pursuit.
///
/// Traces are filtered forward only, and spikes are decided in blocks of 1 ms, each when the
/// samples of `latency_frames` after its end have arrived; a decision is final. The spikes do
/// not depend on the sizes of the pieces, nor on the number of threads.
/// docs/algorithms/templates.md has the rules.
class SPIKEWEAVE_API online_sorter {
public:
    /// @param channels  of the recording, for microvolts per count
    /// @param known     the motion to follow, in the first bins (`unmoved`); of no model: none is
    /// @param run       samples are filtered and correlated on its first device, if it has any,
    /// with the same spikes
    /// @throws invalid_argument if the set is empty, or its contacts or sample rate differ from
    /// those of the recording; device_error, also of the calls that follow.
    online_sorter(const template_set& set, const recording_description& of,
                  const probe_motion& known = {}, const execution& run = {});
    ~online_sorter();
    online_sorter(online_sorter&&) noexcept;
    online_sorter& operator=(online_sorter&&) noexcept;
    online_sorter(const online_sorter&) = delete;
    online_sorter& operator=(const online_sorter&) = delete;

    /// Takes the next samples and returns the spikes that are now decided, by frame, then unit.
    /// @param frames  whole frames, channels fastest
    /// @throws invalid_argument if the last frame is incomplete; cancelled.
    std::vector<template_spike> add(std::span<const std::int16_t> frames,
                                    const execution& run = {});
    /// Returns the spikes that are not decided yet; no samples follow.
    std::vector<template_spike> finish(const execution& run = {});

    /// Detections that no template explains, since the last call, by frame; after `finish` all.
    /// The rest of the traces after the spikes are subtracted has 6 standard deviations of the
    /// noise there, and more than 35 % of what is subtracted within 0.25 ms. Those within 0.5 ms
    /// count as one, the largest. They do not depend on the sizes of the pieces either.
    std::vector<unexplained_detection> take_unexplained();

    /// The motion of the tissue relative to the templates that was undone, in all bins up to that
    /// of the last samples; empty if none is followed. That of a bin is known when it begins.
    const probe_motion& motion() const;

    /// Number of frames of a block at this sample rate.
    static std::size_t block_frames(double rate_hz);
    /// All spikes before this frame have been returned.
    std::int64_t decided_frames() const;
    /// Number of frames after a block of 1 ms that have to arrive before it is decided.
    std::size_t latency_frames() const;

private:
    struct SPIKEWEAVE_LOCAL state;
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave
