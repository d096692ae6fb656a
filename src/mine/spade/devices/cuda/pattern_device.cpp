#include "mine/spade/devices/pattern_device.hpp"

#include <algorithm>
#include <memory>

#include "device/cuda.hpp"
#include "mine/spade/devices/cuda/search_kernels.hpp"

namespace spikeweave::spade {
namespace {

using device::buffer;
using numbers = buffer<std::uint32_t>;

// The recording on a device, which is the same for all groups.
struct resident_recording {
    resident_recording(const pattern_recording& from, const device::stream& on)
        : rules(from.rules, on),
          packed(from.packed, on),
          starts(from.starts, on),
          row_offsets(from.row_offsets, on),
          row_ids(from.row_ids, on),
          rasters(from.rasters, on),
          rows(from.rasters.empty() ? 0 : 1, on) {
        const raster_rows view{rasters.data(), from.shape.units, from.shape.window_bins,
                               from.shape.pad_words, from.shape.row_words};
        if (rows.size() > 0) rows.upload({&view, 1});
    }

    buffer<device_rule> rules;
    numbers packed;
    numbers starts;
    buffer<std::size_t> row_offsets;
    numbers row_ids;
    numbers rasters;
    buffer<raster_rows> rows;
};

struct resident_group {
    resident_group(const pattern_group& from, std::size_t item_count, const device::stream& on)
        : roots(from.roots, on),
          tasks(from.tasks, on),
          in_turn(from.in_turn, on),
          windows(from.windows, on),
          ids(from.ids, on),
          items(from.items, on),
          units(from.units, on),
          candidates(from.candidates, on),
          words(from.words, on),
          starts_of_roots(from.windows.size(), on),
          columns(from.roots.size() * item_count, on),
          next(1, on),
          totals(from.tasks.size(), on),
          begins(from.tasks.size(), on),
          places(from.tasks.size(), on) {
        words.fill(0);
        columns.fill(0);
        totals.fill(0);
    }

    buffer<pattern_root> roots;
    buffer<pattern_task> tasks;
    numbers in_turn;
    numbers windows;
    numbers ids;
    numbers items;
    numbers units;
    numbers candidates;
    numbers words;
    numbers starts_of_roots;
    numbers columns;
    numbers next;
    buffer<task_totals> totals;
    buffer<std::uint64_t> begins;
    buffer<task_place> places;
};

// Patterns that are kept while they are counted. This saves the time of a second search; so with
// less memory, or in larger recordings, it only takes longer.
struct resident_store {
    static constexpr std::uint32_t chunk_words = 1U << 14U;
    static constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30U;

    resident_store(std::uint64_t bytes, const device::stream& on)
        : words(std::min(bytes, most_bytes) / 4 / chunk_words * chunk_words, on),
          next_chunk(1, on) {}

    pattern_store view(std::uint64_t* begins) const {
        return {.words = words.data(),
                .chunk_words = chunk_words,
                .chunks = static_cast<std::uint32_t>(words.size() / chunk_words),
                .next_chunk = next_chunk.data(),
                .begins = begins};
    }

    numbers words;
    numbers next_chunk;
};

struct resident_output {
    resident_output(const task_place& end, bool with_occurrences, const device::stream& on)
        : sizes(end.patterns, on),
          counts(end.patterns, on),
          items(end.items, on),
          occurrences(with_occurrences ? end.occurrences : 0, on) {}

    numbers sizes;
    numbers counts;
    numbers items;
    numbers occurrences;
};

class cuda_pattern_device : public pattern_device {
public:
    /// @param share  the bytes for the warps, for the roots, and for the output; half as many are
    ///               for the store of patterns
    cuda_pattern_device(int ordinal, const pattern_recording& recording, std::uint64_t share,
                        const search_plan& plan)
        : ordinal_(ordinal),
          shape_(recording.shape),
          recording_(recording),
          share_(share),
          plan_(plan) {
        const device::scoped_device on(ordinal_);
        stream_ = std::make_unique<device::stream>();
        memory_ = buffer<unsigned char>(plan_.bytes(), *stream_);
        resident_ = std::make_unique<resident_recording>(recording, *stream_);
        store_ = std::make_unique<resident_store>(share_ / 2, *stream_);
    }
    ~cuda_pattern_device() override {
        // Memory is freed on its device, unless the device is lost.
        try {
            const device::scoped_device on(ordinal_);
            output_.reset();
            group_.reset();
            store_.reset();
            resident_.reset();
            memory_ = {};
            stream_.reset();
        } catch (...) {
            static_cast<void>(stream_.release());
        }
    }
    cuda_pattern_device(const cuda_pattern_device&) = delete;
    cuda_pattern_device& operator=(const cuda_pattern_device&) = delete;

    std::uint64_t most_group_bytes() const override { return share_; }
    std::uint64_t most_numbers() const override { return share_ / sizeof(std::uint32_t); }

    std::vector<task_totals> count(const pattern_group& group,
                                   const std::stop_token& stop) override {
        const device::scoped_device on(ordinal_);
        output_.reset();
        group_.reset();
        group_ = std::make_unique<resident_group>(group, recording_.packed.size(), *stream_);
        batch_ = view_of(group);
        store_->next_chunk.fill(0);
        fill_roots(batch_, *stream_);
        search(stop);
        return group_->totals.downloaded();
    }

    void write(std::uint64_t first, std::uint64_t last, std::span<const task_place> places,
               const task_place& end, const std::stop_token& stop) override {
        const device::scoped_device on(ordinal_);
        output_.reset();
        output_ = std::make_unique<resident_output>(end, recording_.with_occurrences, *stream_);
        group_->places.upload(places);
        batch_.first_task = first;
        batch_.last_task = last;
        batch_.places = group_->places.data();
        batch_.sizes = output_->sizes.data();
        batch_.counts = output_->counts.data();
        batch_.pattern_items = output_->items.data();
        batch_.occurrences = output_->occurrences.data();
        search(stop);
    }

    void read(const task_place& from, const pattern_output& to) const override {
        const device::scoped_device on(ordinal_);
        const device::stream own;
        // Copies to memory that is not page-locked wait for one another.
        const device::host_buffer<std::uint32_t> staged(staged_numbers);
        const auto copy = [&](const numbers& values, std::uint64_t begin,
                              std::span<std::uint32_t> into) {
            while (!into.empty()) {
                const std::size_t some = std::min(into.size(), staged.size());
                device::check(cudaMemcpyAsync(staged.data(), values.data() + begin, 4 * some,
                                              cudaMemcpyDeviceToHost, own.get()));
                own.wait();
                std::copy_n(staged.data(), some, into.begin());
                begin += some;
                into = into.subspan(some);
            }
        };
        copy(output_->sizes, from.patterns, to.sizes);
        copy(output_->counts, from.patterns, to.counts);
        copy(output_->items, from.items, to.items);
        copy(output_->occurrences, from.occurrences, to.occurrences);
    }

private:
    static constexpr std::size_t staged_numbers = std::size_t{1} << 20U;

    pattern_batch view_of(const pattern_group& group) const {
        const resident_recording& all = *resident_;
        const resident_group& own = *group_;
        return {.window_bins = shape_.window_bins,
                .item_count = static_cast<std::uint32_t>(recording_.packed.size()),
                .rules = {all.rules.data(), static_cast<std::uint32_t>(all.rules.size())},
                .least_occ = recording_.least_occ,
                .max_occ = recording_.max_occ,
                .with_occurrences = recording_.with_occurrences,
                .rows = all.rows.data(),
                .packed = all.packed.data(),
                .starts = all.starts.data(),
                .row_offsets = all.row_offsets.data(),
                .row_ids = all.row_ids.data(),
                .roots = own.roots.data(),
                .root_count = static_cast<std::uint32_t>(group.roots.size()),
                .tasks = own.tasks.data(),
                .in_turn = own.in_turn.data(),
                .task_count = static_cast<std::uint32_t>(group.tasks.size()),
                .windows = own.windows.data(),
                .ids = own.ids.data(),
                .items = own.items.data(),
                .units = own.units.data(),
                .candidates = own.candidates.data(),
                .words = own.words.data(),
                .starts_of_roots = own.starts_of_roots.data(),
                .columns = own.columns.data(),
                .first_task = 0,
                .last_task = group.tasks.size(),
                .next = own.next.data(),
                .totals = own.totals.data(),
                .store = store_->view(own.begins.data()),
                .places = nullptr,
                .sizes = nullptr,
                .counts = nullptr,
                .pattern_items = nullptr,
                .occurrences = nullptr};
    }

    void search(const std::stop_token& stop) {
        group_->next.fill(0);
        find_patterns(batch_, shape_, plan_, memory_.data(), stop_.flag(), *stream_);
        stop_.wait(*stream_, stop);
    }

    int ordinal_;
    maxima_shape shape_;
    const pattern_recording& recording_;
    std::uint64_t share_;
    search_plan plan_;
    device::stop_flag stop_;
    std::unique_ptr<device::stream> stream_{};
    buffer<unsigned char> memory_{};
    std::unique_ptr<resident_recording> resident_{};
    std::unique_ptr<resident_store> store_{};
    std::unique_ptr<resident_group> group_{};
    std::unique_ptr<resident_output> output_{};
    pattern_batch batch_{};
};

}  // namespace

std::unique_ptr<pattern_device> open_pattern_device(int ordinal,
                                                    const pattern_recording& recording) {
    const device::device_limits limits = device::limits_of(ordinal);
    if (limits.free_bytes <= recording.bytes()) return nullptr;
    const std::uint64_t share = (limits.free_bytes - recording.bytes()) / 4;
    const search_plan plan = plan_patterns(recording.shape, limits, share);
    if (plan.blocks == 0) return nullptr;
    return std::make_unique<cuda_pattern_device>(ordinal, recording, share, plan);
}

}  // namespace spikeweave::spade
