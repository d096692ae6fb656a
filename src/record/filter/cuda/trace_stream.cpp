#include "record/filter/trace_stream.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "device/cuda.hpp"
#include "record/filter/cuda/filter.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::record {
namespace {

// What stays the same for all frames, and the states of the filter.
struct resident_settings {
    resident_settings(const trace_settings& of, std::span<const recording_channel> channels,
                      const trace_scale& scale)
        : first(channels.size(), on),
          states(2 * of.sections.size() * channels.size(), on),
          matrix(of.whitening, on),
          referenced(of.referenced, on),
          factors(scale.factors, on) {
        std::vector<double> in_microvolts;
        for (const recording_channel& channel : channels) in_microvolts.push_back(channel.gain_uv);
        gains = {in_microvolts, on};
        std::vector<double> of_median(channels.size(), 0.0);
        for (const std::uint32_t c : of.referenced) of_median[c] = 1;
        shares = {of_median, on};
        states.fill(0);
        on.wait();
    }

    device::stream on{};
    device::buffer<double> gains{};
    device::buffer<double> shares{};
    device::buffer<double> first;
    device::buffer<double> states;
    device::buffer<float> matrix;
    device::buffer<std::uint32_t> referenced;
    device::buffer<float> factors;
    device::buffer<std::uint32_t> mixed_from{};
    device::buffer<float> mixed_by{};
};

// The memory for some frames.
struct frame_memory {
    frame_memory(std::size_t most_frames, std::size_t channels, const device::stream& on)
        : frames(most_frames),
          read(frames * channels),
          steps(frames * channels),
          block(1, on),
          counts(frames * channels, on),
          values(frames * channels, on),
          traces(frames * channels, on),
          more_traces(frames * channels, on),
          scaled(frames * channels, on) {}

    std::size_t frames;
    device::host_buffer<std::int16_t> read;
    device::host_buffer<std::int16_t> steps;
    device::buffer<staged_block> block;
    device::buffer<std::int16_t> counts;
    device::buffer<double> values;
    device::buffer<float> traces;
    device::buffer<float> more_traces;
    device::buffer<std::int16_t> scaled;
};

class scaled_stream_of_device final : public scaled_stream {
public:
    scaled_stream_of_device(const trace_settings& settings,
                            std::span<const recording_channel> channels, const trace_scale& scale,
                            int ordinal)
        : settings_(settings),
          channels_(channels.begin(), channels.end()),
          limit_(scale.limit),
          ordinal_(ordinal) {
        if (settings.sections.size() > most_sections)
            throw invalid_argument("a filter of more sections than there are on a device");
        const device::scoped_device scope(ordinal_);
        resident_.emplace(settings_, channels, scale);
    }
    // Memory is freed on its device, unless the device is lost.
    ~scaled_stream_of_device() override {
        try {
            const device::scoped_device scope(ordinal_);
            memory_.reset();
            resident_.reset();
        } catch (...) {
            return;
        }
    }
    scaled_stream_of_device(const scaled_stream_of_device&) = delete;
    scaled_stream_of_device& operator=(const scaled_stream_of_device&) = delete;

    void follow(const probe_motion& moved, std::size_t bin) override {
        const auto displaced = displaced_in(moved, bin, channels_, settings_.noise);
        const device::scoped_device scope(ordinal_);
        sources_ = displaced ? static_cast<std::uint32_t>(displaced->sources()) : 0;
        if (!displaced) return;
        resident_->mixed_from = {displaced->from(), resident_->on};
        resident_->mixed_by = {displaced->weights(), resident_->on};
        resident_->on.wait();
    }

    std::vector<std::int16_t> next(std::span<const std::int16_t> counts,
                                   const execution& /*run*/) override {
        if (counts.empty()) return {};
        const device::scoped_device scope(ordinal_);
        const auto frames = static_cast<std::uint32_t>(counts.size() / channels_.size());
        if (!memory_ || memory_->frames < frames) {
            memory_.reset();
            memory_.emplace(frames, channels_.size(), resident_->on);
        }
        upload(counts, frames);
        filter(frames);
        const float* const traces = mix_and_whiten(frames);
        scale_columns({.traces = traces,
                       .rows = frames,
                       .channels = static_cast<std::uint32_t>(channels_.size()),
                       .factors = resident_->factors.data(),
                       .limit = limit_},
                      memory_->scaled.data(), resident_->on);
        const auto steps = memory_->steps.span().first(counts.size());
        memory_->scaled.download(steps);
        resident_->on.wait();
        return {steps.begin(), steps.end()};
    }

private:
    void upload(std::span<const std::int16_t> counts, std::uint32_t frames) {
        if (!has_first_) {
            std::vector<double> first;
            for (std::size_t c = 0; c < channels_.size(); ++c)
                first.push_back(channels_[c].gain_uv * counts[c]);
            resident_->first.upload(first);
            has_first_ = true;
        }
        std::ranges::copy(counts, memory_->read.data());
        memory_->counts.upload(memory_->read.span().first(counts.size()));
        const staged_block all{.counts_at = 0,
                               .present = frames,
                               .length = frames,
                               .kept_from = 0,
                               .kept_to = frames,
                               .kept_at = 0};
        memory_->block.upload({&all, 1});
    }

    void filter(std::uint32_t frames) {
        const auto channels = static_cast<std::uint32_t>(channels_.size());
        const bool has_reference = !settings_.referenced.empty();
        forward_problem problem{
            .counts = memory_->counts.data(),
            .gains = resident_->gains.data(),
            .first = resident_->first.data(),
            .sections = {},
            .section_count = static_cast<std::uint32_t>(settings_.sections.size()),
            .channels = channels,
            .frames = frames,
            .states = resident_->states.data(),
            .values = has_reference ? memory_->values.data() : nullptr,
            .traces = memory_->traces.data(),
        };
        std::copy(settings_.sections.begin(), settings_.sections.end(), problem.sections);
        filter_forward(problem, resident_->on);
        if (!has_reference) return;
        subtract_medians(
            {
                .blocks = memory_->block.data(),
                .counts = nullptr,
                .gains = nullptr,
                .sections = {},
                .section_count = 0,
                .block_count = 1,
                .channels = channels,
                .referenced = resident_->referenced.data(),
                .shares = resident_->shares.data(),
                .referenced_count = static_cast<std::uint32_t>(settings_.referenced.size()),
                .values = memory_->values.data(),
                .value_rows = frames,
                .traces = memory_->traces.data(),
                .trace_rows = frames,
            },
            resident_->on);
    }

    const float* mix_and_whiten(std::uint32_t frames) {
        const auto channels = static_cast<std::uint32_t>(channels_.size());
        const device::buffer<float>* from = &memory_->traces;
        const device::buffer<float>* to = &memory_->more_traces;
        if (sources_ > 0) {
            mix_channels({.frames = from->data(),
                          .rows = frames,
                          .channels = channels,
                          .sources = sources_,
                          .from = resident_->mixed_from.data(),
                          .weights = resident_->mixed_by.data()},
                         to->data(), resident_->on);
            std::swap(from, to);
        }
        if (settings_.whitening.empty()) return from->data();
        whiten_rows(from->data(), resident_->matrix.data(), frames, channels, to->data(),
                    resident_->on);
        return to->data();
    }

    trace_settings settings_;
    std::vector<recording_channel> channels_;
    float limit_;
    int ordinal_;
    bool has_first_ = false;
    std::uint32_t sources_ = 0;  // 0: the contacts are where they were
    std::optional<resident_settings> resident_{};
    std::optional<frame_memory> memory_{};
};

}  // namespace

std::unique_ptr<scaled_stream> scaled_stream_on_device(const trace_settings& settings,
                                                       std::span<const recording_channel> channels,
                                                       const trace_scale& scale, int device) {
    return std::make_unique<scaled_stream_of_device>(settings, channels, scale, device);
}

}  // namespace spikeweave::record
