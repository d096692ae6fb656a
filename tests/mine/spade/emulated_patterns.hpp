#pragma once

#include "mine/spade/devices/pattern_tasks.hpp"
#include "mine/spade/devices/searches.hpp"
#include "mine/spade/emulated_lanes.hpp"

namespace spikeweave::spade {

/// The search of an emulated device for patterns.
struct pattern_emulation {
    bool has_many_lanes = false;
    std::uint32_t arena_words = 1U << 18U;
    std::uint64_t group_bytes = std::uint64_t{1} << 30U;
    std::uint64_t numbers = std::uint64_t{1} << 30U;
    std::uint32_t chunk_words = 1U << 12U;  ///< of the store of patterns
    std::uint32_t chunks = 1;
};

/// A device with one warp of one lane, or with two of four lanes.
class emulated_pattern_device : public pattern_device {
public:
    emulated_pattern_device(const pattern_recording& recording, const pattern_emulation& how)
        : recording_(recording),
          how_(how),
          rows_{recording.rasters.data(), recording.shape.units, recording.shape.window_bins,
                recording.shape.pad_words, recording.shape.row_words} {}

    std::uint64_t most_group_bytes() const override { return how_.group_bytes; }
    std::uint64_t most_numbers() const override { return how_.numbers; }

    std::vector<task_totals> count(const pattern_group& group, const std::stop_token&) override {
        group_ = group;
        candidates_.assign(group.candidates, 0);
        words_.assign(group.words, 0);
        starts_.assign(group.windows.size(), 0);
        columns_.assign(group.roots.size() * recording_.packed.size(), 0);
        totals_.assign(group.tasks.size(), {});
        begins_.assign(group.tasks.size(), 0);
        stored_.assign(std::size_t{how_.chunks} * how_.chunk_words, 0);
        next_chunk_ = 0;
        batch_ = view();
        std::barrier<> alone(1);
        for (std::uint32_t root = 0; root < batch_.root_count; ++root)
            fill_root(cpu_block(alone, 0, 1), batch_, root);
        search();
        return totals_;
    }

    void write(std::uint64_t first, std::uint64_t last, std::span<const task_place> places,
               const task_place& end, const std::stop_token&) override {
        sizes_.assign(end.patterns, 0);
        counts_.assign(end.patterns, 0);
        items_.assign(end.items, 0);
        occurrences_.assign(end.occurrences, 0);
        batch_.first_task = first;
        batch_.last_task = last;
        batch_.places = places.data();
        batch_.sizes = sizes_.data();
        batch_.counts = counts_.data();
        batch_.pattern_items = items_.data();
        batch_.occurrences = occurrences_.data();
        search();
    }

    void read(const task_place& from, const pattern_output& to) const override {
        const auto copy = [](const std::vector<std::uint32_t>& values, std::uint64_t begin,
                             std::span<std::uint32_t> into) {
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(begin), into.size(),
                        into.begin());
        };
        copy(sizes_, from.patterns, to.sizes);
        copy(counts_, from.patterns, to.counts);
        copy(items_, from.items, to.items);
        copy(occurrences_, from.occurrences, to.occurrences);
    }

private:
    pattern_batch view() {
        return {
            .window_bins = recording_.shape.window_bins,
            .item_count = static_cast<std::uint32_t>(recording_.packed.size()),
            .rules = {recording_.rules.data(), static_cast<std::uint32_t>(recording_.rules.size())},
            .least_occ = recording_.least_occ,
            .max_occ = recording_.max_occ,
            .with_occurrences = recording_.with_occurrences,
            .rows = recording_.drops_subsets ? &rows_ : nullptr,
            .packed = recording_.packed.data(),
            .starts = recording_.starts.data(),
            .row_offsets = recording_.row_offsets.data(),
            .row_ids = recording_.row_ids.data(),
            .roots = group_.roots.data(),
            .root_count = static_cast<std::uint32_t>(group_.roots.size()),
            .tasks = group_.tasks.data(),
            .in_turn = group_.in_turn.data(),
            .task_count = static_cast<std::uint32_t>(group_.tasks.size()),
            .windows = group_.windows.data(),
            .ids = group_.ids.data(),
            .items = group_.items.data(),
            .units = group_.units.data(),
            .candidates = candidates_.data(),
            .words = words_.data(),
            .starts_of_roots = starts_.data(),
            .columns = columns_.data(),
            .first_task = 0,
            .last_task = group_.tasks.size(),
            .next = &next_,
            .totals = totals_.data(),
            .store = {.words = stored_.data(),
                      .chunk_words = how_.chunk_words,
                      .chunks = how_.chunks,
                      .next_chunk = &next_chunk_,
                      .begins = begins_.data()},
            .places = nullptr,
            .sizes = nullptr,
            .counts = nullptr,
            .pattern_items = nullptr,
            .occurrences = nullptr};
    }

    void search() {
        const auto never = [] { return false; };
        next_ = 0;
        if (!how_.has_many_lanes) {
            owned_warp_space own(recording_.shape, how_.arena_words);
            search_tasks(one_lane{}, batch_, own.view(), never);
            return;
        }
        constexpr std::uint32_t warps = 2;
        std::vector<four_lanes::meeting> meetings(warps);
        std::vector<std::unique_ptr<owned_warp_space>> own;
        for (std::uint32_t w = 0; w < warps; ++w)
            own.push_back(std::make_unique<owned_warp_space>(recording_.shape, how_.arena_words));
        std::vector<std::jthread> running;
        for (std::uint32_t t = 0; t < warps * four_lanes::size; ++t)
            running.emplace_back([&, t] {
                const std::uint32_t w = t / four_lanes::size;
                search_tasks(four_lanes(meetings[w], t % four_lanes::size), batch_, own[w]->view(),
                             never);
            });
    }

    const pattern_recording& recording_;
    pattern_emulation how_;
    raster_rows rows_;
    pattern_group group_{};
    std::vector<std::uint32_t> candidates_, words_, starts_, columns_;
    std::vector<task_totals> totals_;
    std::vector<std::uint64_t> begins_;
    std::vector<std::uint32_t> stored_;
    std::uint32_t next_chunk_ = 0;
    std::vector<std::uint32_t> sizes_, counts_, items_, occurrences_;
    std::uint32_t next_ = 0;
    pattern_batch batch_{};
};

}  // namespace spikeweave::spade
