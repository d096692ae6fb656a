#include "sort/templates/filter_bank.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "device/cuda/lanes.hpp"
#include "sort/templates/cuda/correlate.hpp"

namespace spikeweave::templates {
namespace {

// All filters, one after another.
struct packed_filters {
    std::vector<placed_filter> places{};
    std::vector<std::uint32_t> channels{};
    std::vector<std::int16_t> spatial{};
    std::vector<std::int16_t> temporal{};
    std::uint32_t longest = 0;

    explicit packed_filters(std::span<const matched_filter> filters) {
        for (const matched_filter& each : filters) {
            places.push_back({.channels_at = static_cast<std::uint32_t>(channels.size()),
                              .channels = static_cast<std::uint32_t>(each.channels.size()),
                              .spatial_at = static_cast<std::uint32_t>(spatial.size()),
                              .temporal_at = static_cast<std::uint32_t>(temporal.size()),
                              .ranks = static_cast<std::uint32_t>(each.ranks),
                              .frames = static_cast<std::uint32_t>(each.frames)});
            channels.insert(channels.end(), each.channels.begin(), each.channels.end());
            spatial.insert(spatial.end(), each.spatial.begin(), each.spatial.end());
            temporal.insert(temporal.end(), each.temporal.begin(), each.temporal.end());
            longest = std::max(longest, places.back().frames);
        }
    }
};

// The filters on one device, and a stream to correlate blocks with them.
class correlator {
public:
    correlator(const packed_filters& filters, std::size_t before)
        : longest_(filters.longest),
          before_(static_cast<std::uint32_t>(before)),
          places_(filters.places, on_),
          channels_(filters.channels, on_),
          spatial_(filters.spatial, on_),
          temporal_(filters.temporal, on_) {}

    const device::stream& on() const { return on_; }
    std::size_t filter_count() const { return places_.size(); }

    // Starts to correlate channels x frames.
    void correlate(const std::int16_t* traces, std::size_t frames,
                   device::buffer<std::int32_t>& scores) const {
        scores.fill(0);
        correlate_all({.filters = places_.data(),
                       .filter_count = static_cast<std::uint32_t>(places_.size()),
                       .channel_numbers = channels_.data(),
                       .spatial = spatial_.data(),
                       .temporal = temporal_.data(),
                       .traces = traces,
                       .frames = static_cast<std::uint32_t>(frames),
                       .before = before_,
                       .longest = longest_},
                      scores.data(), on_);
    }

    score_table scores_of(const integer_block& block) const {
        score_table out{.frames = block.frames};
        out.values.resize(filter_count() * block.frames);
        const device::buffer<std::int16_t> traces(block.values, on_);
        device::buffer<std::int32_t> scores(out.values.size(), on_);
        correlate(traces.data(), block.frames, scores);
        scores.download(out.values);
        on_.wait();
        return out;
    }

private:
    std::uint32_t longest_;
    std::uint32_t before_;
    device::stream on_;
    device::buffer<placed_filter> places_;
    device::buffer<std::uint32_t> channels_;
    device::buffer<std::int16_t> spatial_;
    device::buffer<std::int16_t> temporal_;
};

// Copies a part of each row to another place.
template <class T>
void copy_columns(const T* from, std::size_t from_width, T* to, std::size_t to_width,
                  std::size_t columns, std::size_t rows, const device::stream& on) {
    device::check(cudaMemcpy2DAsync(to, to_width * sizeof(T), from, from_width * sizeof(T),
                                    columns * sizeof(T), rows, cudaMemcpyDefault, on.get()));
}

// The last frames are kept on the device.
class score_stream_of_device final : public score_stream {
public:
    score_stream_of_device(std::span<const matched_filter> filters, std::size_t length, int ordinal)
        : filters_(filters), kept_(length - 1), ordinal_(ordinal) {
        const device::scoped_device scope(ordinal_);
        correlator_.emplace(filters_, 0);
    }
    // Memory is freed on its device, unless the device is lost.
    ~score_stream_of_device() override {
        try {
            const device::scoped_device scope(ordinal_);
            last_ = {};
            correlator_.reset();
        } catch (...) {
            return;
        }
    }
    score_stream_of_device(const score_stream_of_device&) = delete;
    score_stream_of_device& operator=(const score_stream_of_device&) = delete;

    score_table next(const integer_block& frames, const execution& /*run*/) override {
        score_table out{.frames = frames.frames};
        const std::size_t filters = correlator_->filter_count();
        out.values.resize(filters * frames.frames);
        if (frames.frames == 0) return out;
        const device::scoped_device scope(ordinal_);
        const device::stream& on = correlator_->on();
        const std::size_t width = kept_ + frames.frames;
        const std::size_t channels = frames.channels;
        device::buffer<std::int16_t> traces(channels * width, on);
        if (last_.size() > 0)
            copy_columns(last_.data() + last_width_ - kept_, last_width_, traces.data(), width,
                         kept_, channels, on);
        else
            traces.fill(0);
        if (read_.size() < frames.values.size())
            read_ = device::host_buffer<std::int16_t>(frames.values.size());
        if (scores_.size() < out.values.size())
            scores_ = device::host_buffer<std::int32_t>(out.values.size());
        std::ranges::copy(frames.values, read_.data());
        copy_columns<std::int16_t>(read_.data(), frames.frames, traces.data() + kept_, width,
                                   frames.frames, channels, on);
        device::buffer<std::int32_t> scores(filters * width, on);
        correlator_->correlate(traces.data(), width, scores);
        copy_columns<std::int32_t>(scores.data(), width, scores_.data(), frames.frames,
                                   frames.frames, filters, on);
        on.wait();
        std::copy_n(scores_.data(), out.values.size(), out.values.begin());
        last_ = std::move(traces);
        last_width_ = width;
        return out;
    }

private:
    packed_filters filters_;
    std::size_t kept_;  // frames that later scores need
    int ordinal_;
    std::optional<correlator> correlator_{};
    device::buffer<std::int16_t> last_{};  // channels x frames
    std::size_t last_width_ = 0;
    device::host_buffer<std::int16_t> read_{};
    device::host_buffer<std::int32_t> scores_{};
};

class device_filter_bank final : public filter_bank {
public:
    device_filter_bank(std::span<const matched_filter> filters, std::size_t before,
                       const execution& run)
        : filters_(filters), stop_(run.stop), lanes_(run.devices, [this, before] {
              return std::make_unique<correlator>(filters_, before);
          }) {}

    score_table scores_of(const integer_block& block) const override {
        return lanes_.with_lane(stop_, [&](correlator& lane) { return lane.scores_of(block); });
    }

private:
    packed_filters filters_;
    std::stop_token stop_;
    mutable device::lanes<correlator> lanes_;
};

}  // namespace

std::unique_ptr<const filter_bank> filter_bank_on_devices(std::span<const matched_filter> filters,
                                                          std::size_t before,
                                                          const execution& run) {
    return std::make_unique<const device_filter_bank>(filters, before, run);
}

std::unique_ptr<score_stream> score_stream_on_device(std::span<const matched_filter> filters,
                                                     std::size_t length, int device) {
    return std::make_unique<score_stream_of_device>(filters, length, device);
}

}  // namespace spikeweave::templates
