#include "sort/templates/filter_bank.hpp"

#include <algorithm>
#include <cstdint>
#include <stop_token>
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

    score_table scores_of(const integer_block& block) {
        score_table out{.frames = block.frames};
        out.values.resize(places_.size() * block.frames);
        const device::buffer<std::int16_t> traces(block.values, on_);
        device::buffer<std::int32_t> scores(out.values.size(), on_);
        scores.fill(0);
        correlate_all({.filters = places_.data(),
                       .filter_count = static_cast<std::uint32_t>(places_.size()),
                       .channel_numbers = channels_.data(),
                       .spatial = spatial_.data(),
                       .temporal = temporal_.data(),
                       .traces = traces.data(),
                       .frames = static_cast<std::uint32_t>(block.frames),
                       .before = before_,
                       .longest = longest_},
                      scores.data(), on_);
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

}  // namespace spikeweave::templates
