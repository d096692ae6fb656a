#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "live/sources/sample_stream.hpp"
#include "live/sources/spikeglx_client.hpp"

namespace spikeweave::live {

/// Fetches the samples of one probe of a running SpikeGLX: the channels of the band of spikes that
/// it saves, as its files have them. SpikeGLX keeps the last seconds, so that samples which were
/// not fetched in time are fetched later, unless it has them no more. Frames count from the first
/// one of a run; another run begins an epoch.
class spikeglx_samples {
public:
    using clock = std::chrono::steady_clock;

    /// @param stream  "imec0"; empty: the only probe
    /// @param of      the channels and the rate that are expected; without channels, those of
    /// SpikeGLX, at their places
    /// @param gain_uv  of all channels; 0: that of SpikeGLX
    /// @param watermark_us  the time from which samples are fetched, if the run that is on has come
    /// so far; null: those that come from now on. Of a run that begins later, all are.
    /// @throws invalid_argument for another stream.
    spikeglx_samples(const std::string& stream, recording_description of, double gain_uv = 0,
                     std::optional<std::int64_t> watermark_us = {});

    const recording_description& description() const { return of_; }
    /// Asks for the next frames, and gives those that are there, or what was not readable; null: no
    /// run is on, or no frame has come.
    /// @throws io_error if the probe is not as expected; spikeglx_broken, after which the next call
    /// has to be with another connection.
    std::optional<sample_block> ask(spikeglx_client& server, clock::time_point now = clock::now());
    /// Counts what could not be read, once until frames come; null: it has been counted.
    std::optional<sample_block> unreadable(const std::string& why);
    bool is_running() const { return is_running_; }
    /// Whether SpikeGLX had no more frames than the last block.
    bool has_all() const { return has_all_; }
    const std::string& first_unreadable() const { return first_unreadable_; }
    /// Sentences about the channels, when they are known.
    const std::vector<std::string>& warnings() const { return warnings_; }

private:
    void begin_run(spikeglx_client& server, clock::time_point now);
    void describe(spikeglx_client& server);
    std::uint64_t choose_probe(std::uint64_t count) const;
    void take_contacts(spikeglx_client& server, const std::vector<std::uint64_t>& channels);
    void check_run(spikeglx_client& server, clock::time_point now);
    void expect_other_run();
    std::optional<sample_block> block_of(spikeglx_frames&& got);

    std::optional<std::uint64_t> named_{};  // the probe that was asked for
    recording_description of_;
    double gain_uv_;
    std::optional<std::int64_t> watermark_us_;
    bool is_described_ = false;
    std::vector<std::string> warnings_{};
    std::uint64_t probe_ = 0;
    std::string channels_{};  // as `fetch` takes them
    bool is_running_ = false;
    bool is_other_run_ = false;  // a run begins of which no frame was fetched
    bool is_new_epoch_ = false;
    bool has_left_out_ = false;
    bool is_refused_ = false;  // the last frames were
    bool has_all_ = false;
    std::optional<std::int64_t> next_{};  // frame that is fetched
    std::optional<std::int64_t> end_{};   // after the last one that was given
    // So many frames were there at this time.
    std::int64_t counted_ = 0;
    clock::time_point counted_at_{};
    clock::time_point answered_at_{};
    std::string first_unreadable_{};
};

}  // namespace spikeweave::live
