#include "sort/templates/filter_bank.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel/parallel_for.hpp"
#include "sort/templates/filter_kernels.hpp"

namespace spikeweave::templates {
namespace {

class filter_bank_on_cpu final : public filter_bank {
public:
    filter_bank_on_cpu(std::span<const matched_filter> filters, std::size_t before)
        : filters_(filters), before_(before) {}

    score_table scores_of(const integer_block& block) const override {
        return templates::scores_of(filters_, block, before_);
    }

private:
    std::span<const matched_filter> filters_;
    std::size_t before_;
};

// The last frames are kept as they are projected on the spatial parts of the filters.
class score_stream_on_cpu final : public score_stream {
public:
    score_stream_on_cpu(std::span<const matched_filter> filters, std::size_t length)
        : filters_(filters), kept_(length - 1) {
        for (const matched_filter& filter : filters) projected_.emplace_back(filter.ranks * kept_);
    }

    score_table next(const integer_block& frames, const execution& run) override {
        score_table out{.frames = frames.frames};
        out.values.resize(filters_.size() * frames.frames);
        if (frames.frames == 0) return out;
        parallel::parallel_for(
            filters_.size(), {.threads = run.threads, .stop = run.stop}, "",
            [&](std::size_t u) { score(frames, filters_[u], projected_[u], out.of(u)); });
        return out;
    }

private:
    void score(const integer_block& frames, const matched_filter& filter,
               std::vector<std::int16_t>& projected, std::span<std::int32_t> scores) const {
        if (filter.ranks == 0) return;
        const filter_kernels& kernels = runnable_filter_kernels().back();
        std::vector<const std::int16_t*> traces;
        for (const std::uint32_t channel : filter.channels)
            traces.push_back(frames.on(channel).data());
        const std::size_t length = kept_ + frames.frames;
        std::vector<std::int16_t> seen(filter.ranks * length);
        std::vector<std::int16_t*> by_rank;
        for (std::size_t r = 0; r < filter.ranks; ++r) {
            std::copy_n(projected.data() + r * kept_, kept_, seen.data() + r * length);
            by_rank.push_back(seen.data() + r * length + kept_);
        }
        kernels.project(traces, filter.spatial, frames.frames, by_rank);
        std::ranges::fill(scores, half_filter);
        for (std::size_t r = 0; r < filter.ranks; ++r) {
            const std::span<const std::int16_t> own = std::span{seen}.subspan(r * length, length);
            kernels.correlate(own, filter.temporal_of(r), scores);
            std::ranges::copy(own.last(kept_), projected.data() + r * kept_);
        }
        for (std::int32_t& each : scores) each >>= filter_bits;
    }

    std::span<const matched_filter> filters_;
    std::size_t kept_;                                  // frames that later scores need
    std::vector<std::vector<std::int16_t>> projected_;  // of each filter, ranks x kept
};

}  // namespace

std::unique_ptr<score_stream> score_stream_of(std::span<const matched_filter> filters,
                                              std::size_t length, const execution& run) {
    if (run.devices.empty()) return std::make_unique<score_stream_on_cpu>(filters, length);
    return score_stream_on_device(filters, length, run.devices.front());
}

std::unique_ptr<const filter_bank> filter_bank_of(std::span<const matched_filter> filters,
                                                  std::size_t before, const execution& run) {
    if (run.devices.empty()) return std::make_unique<const filter_bank_on_cpu>(filters, before);
    return filter_bank_on_devices(filters, before, run);
}

}  // namespace spikeweave::templates
