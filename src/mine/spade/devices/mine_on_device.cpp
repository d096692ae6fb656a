#include "mine/spade/devices/searches.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "mine/spade/devices/pattern_node.hpp"
#include "mine/spade/first_bin/part_searches.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::spade {
namespace {

constexpr std::string_view mining = "mining patterns";
constexpr std::uint64_t numbers_of_piece = std::uint64_t{1} << 20U;

std::uint64_t numbers_from(const task_place& from, const task_place& to) {
    return 2 * (to.patterns - from.patterns) + (to.items - from.items) +
           (to.occurrences - from.occurrences);
}

// Continues offsets by these lengths.
void append_sums(std::span<const std::uint32_t> values, std::vector<std::uint64_t>& offsets) {
    offsets.reserve(offsets.size() + values.size());
    for (const std::uint32_t value : values) offsets.push_back(offsets.back() + value);
}

// Patterns that follow one another in the order of `pattern_table`: some that the device has
// written, or a part that the CPU searches.
struct piece {
    bool is_on_cpu;
    search_task part;
    task_place from;
    task_place to;
};

// Tasks whose output the device holds at once.
struct round_of_tasks {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    task_place end{};  // of the output
    std::vector<piece> pieces{};
};

// Divides the tasks of a group into rounds and pieces.
class round_maker {
public:
    round_maker(std::uint64_t most_numbers, bool with_occurrences, std::size_t tasks)
        : most_numbers_(most_numbers), with_occurrences_(with_occurrences), places_(tasks) {}

    void add_on_cpu(item_index::item_id root, std::uint32_t first, std::uint32_t last) {
        std::vector<piece>& pieces = rounds_.back().pieces;
        if (!pieces.empty() && pieces.back().is_on_cpu && pieces.back().part.root == root &&
            pieces.back().part.last == first)
            pieces.back().part.last = last;
        else
            pieces.push_back({true, {root, first, last, 0}, {}, {}});
    }

    // The tasks of a candidate. Returns whether the device writes their patterns; otherwise the CPU
    // searches below the candidate.
    bool add(std::span<const task_totals> parts, item_index::item_id root, std::uint32_t rank) {
        const bool is_on_cpu = std::ranges::any_of(parts, [&](const task_totals& found) {
            return found.left_out != 0 || numbers_from({}, size_of(found)) > most_numbers_;
        });
        if (is_on_cpu) add_on_cpu(root, rank, rank + 1);
        for (const task_totals& found : parts) {
            if (is_on_cpu)
                places_[rounds_.back().last++] = {task_place::none, 0, 0};
            else
                add_task(found);
        }
        return !is_on_cpu;
    }

    const std::vector<round_of_tasks>& rounds() const { return rounds_; }
    std::span<const task_place> places() const { return places_; }

private:
    task_place size_of(const task_totals& found) const {
        return {found.patterns, found.items, with_occurrences_ ? found.occurrences : 0};
    }

    void add_task(const task_totals& found) {
        const task_place size = size_of(found);
        if (numbers_from({}, next_) + numbers_from({}, size) > most_numbers_) begin_round();
        places_[rounds_.back().last++] = next_;
        if (found.patterns == 0) return;
        const task_place begin = next_;
        next_ = {next_.patterns + size.patterns, next_.items + size.items,
                 next_.occurrences + size.occurrences};
        rounds_.back().end = next_;
        std::vector<piece>& pieces = rounds_.back().pieces;
        if (!pieces.empty() && !pieces.back().is_on_cpu &&
            numbers_from(pieces.back().from, next_) <= numbers_of_piece)
            pieces.back().to = next_;
        else
            pieces.push_back({false, {}, begin, next_});
    }

    void begin_round() {
        const std::uint64_t first = rounds_.back().last;
        rounds_.push_back({.first = first, .last = first});
        next_ = {};
    }

    std::uint64_t most_numbers_;
    bool with_occurrences_;
    std::vector<task_place> places_;
    std::vector<round_of_tasks> rounds_{1};
    task_place next_{};
};

class device_search {
public:
    device_search(const spade_windows& windows, const pattern_mining_options& options,
                  const block_taker& take, const execution& run)
        : options_(options),
          take_(take),
          run_(run),
          rules_(options.rules),
          items_(windows, rules_.least_occ(), run.stop),
          before_(items_, options.drop_window_subsets, run.stop),
          recording_(items_, rules_, options),
          parts_(items_, before_, options, rules_, run.stop) {}

    const pattern_recording& recording() const { return recording_; }

    mining_summary run(pattern_device& device) {
        const task_sizes sizes(costs());
        pattern_group group;
        std::vector<item_index::item_id> roots;
        std::uint64_t bytes = 0;
        const auto search_group = [&] {
            search(device, group, roots);
            group = {};
            roots.clear();
            bytes = 0;
        };
        std::vector<root_lists> lists;
        for (item_index::item_id root = 0; root < items_.first_bin_items(); ++root) {
            // All lists together would need a table of units × items.
            if (root % listed_together == 0) lists = list_from(root);
            const root_lists own = std::exchange(lists[root % listed_together], {});
            if (own.is_elsewhere) continue;
            const std::uint64_t needed = sizes.bytes_of(items_, root, own);
            const bool fits =
                needed <= device.most_group_bytes() && own.closure.size() < warp_space::most_path;
            if (!fits || bytes + needed > device.most_group_bytes()) search_group();
            if (!fits) {
                search_on_cpu(root);
                continue;
            }
            bytes += needed;
            group.add(items_, root, own, sizes);
            roots.push_back(root);
        }
        search_group();
        return summary_;
    }

private:
    static constexpr std::size_t listed_together = 256;

    std::vector<double> costs() const {
        std::vector<double> out(items_.first_bin_items());
        parallel::parallel_for(out.size(), quietly(), mining, [&](std::size_t root) {
            out[root] = task_sizes::cost_of(
                list_items(items_, static_cast<item_index::item_id>(root), rules_.least_occ()));
        });
        return out;
    }
    std::vector<root_lists> list_from(item_index::item_id begin) const {
        std::vector<root_lists> out(
            std::min<std::size_t>(listed_together, items_.first_bin_items() - begin));
        parallel::parallel_for(out.size(), quietly(), mining, [&](std::size_t i) {
            out[i] =
                list_items(items_, static_cast<item_index::item_id>(begin + i), rules_.least_occ());
        });
        return out;
    }

    // The threads of this process, without progress, which is that of patterns handed on.
    execution quietly() const { return {.threads = thread_count(run_), .stop = run_.stop}; }

    void search(pattern_device& device, pattern_group& group,
                const std::vector<item_index::item_id>& ids) {
        if (group.roots.empty()) return;
        group.put_in_turn();
        const std::vector<task_totals> totals = device.count(group, run_.stop);
        round_maker made(device.most_numbers(), options_.with_occurrences, group.tasks.size());
        std::span<const task_totals> left(totals);
        std::span<const pattern_task> tasks(group.tasks);
        for (std::size_t r = 0; r < group.roots.size(); ++r) {
            const auto end = std::ranges::find_if(
                tasks, [&](const pattern_task& task) { return task.root != r; });
            const auto own = static_cast<std::size_t>(end - tasks.begin());
            add_root(group.roots[r], ids[r], tasks.first(own), left.first(own), made);
            tasks = tasks.subspan(own);
            left = left.subspan(own);
        }
        for (const round_of_tasks& round : made.rounds()) {
            if (round.end.patterns > 0)
                device.write(round.first, round.last, made.places(), round.end, run_.stop);
            hand_on(&device, round.pieces);
        }
    }

    void add_root(const pattern_root& root, item_index::item_id id,
                  std::span<const pattern_task> tasks, std::span<const task_totals> totals,
                  round_maker& made) {
        // The pattern of a root itself is left to the CPU. Its last item has the highest rank if it
        // is one of the closure.
        const bool is_wanted = rules_.take(root.size, root.units, root.windows);
        if (is_wanted && root.size == 1) made.add_on_cpu(id, 0, 1);
        while (!tasks.empty()) {
            const std::uint32_t parts = tasks.front().parts;
            if (made.add(totals.first(parts), id, tasks.front().candidate + 1))
                for (const task_totals& found : totals.first(parts)) add_to_summary(found);
            tasks = tasks.subspan(parts);
            totals = totals.subspan(parts);
        }
        const std::uint32_t last = root.candidates + root.size - 1;
        if (is_wanted && root.size > 1) made.add_on_cpu(id, last, last + 1);
    }

    void add_to_summary(const task_totals& found) {
        summary_.closed += std::uint64_t{found.patterns} + found.subsets + found.too_frequent;
        summary_.window_subsets += found.subsets;
        summary_.too_frequent += found.too_frequent;
    }

    void search_on_cpu(item_index::item_id root) {
        std::vector<piece> pieces;
        if (planned_.empty()) planned_ = plan_search(items_, rules_.least_occ(), run_.stop);
        for (const search_task& task : planned_)
            if (task.root == root) pieces.push_back({true, task, {}, {}});
        hand_on(nullptr, pieces);
    }

    // Passes pieces on in order.
    void hand_on(const pattern_device* device, const std::vector<piece>& pieces) {
        execution alone = run_;
        alone.ranks = nullptr;
        const std::vector<double> equal_costs(pieces.size(), 1);
        for_each_part(
            equal_costs, alone,
            [&](std::size_t i, const part_taker& grown) {
                const piece& one = pieces[i];
                return one.is_on_cpu ? parts_.run(one.part, grown) : read(*device, one, grown);
            },
            [&](const mined_part& part) {
                summary_.closed += part.summary.closed;
                summary_.window_subsets += part.summary.window_subsets;
                summary_.too_frequent += part.summary.too_frequent;
                if (!part.patterns.empty()) take_(part.patterns);
            });
    }

    // Reads a piece in parts, because a single task may have found much.
    mined_part read(const pattern_device& device, const piece& of, const part_taker& grown) const {
        std::vector<std::uint32_t> sizes(of.to.patterns - of.from.patterns);
        std::vector<std::uint32_t> counts(sizes.size());
        device.read(of.from, {sizes, counts, {}, {}});
        mined_part out;
        task_place from = of.from;
        for (std::size_t begin = 0; begin < sizes.size();) {
            if (begin > 0) grown(out);
            task_place to = from;
            std::size_t end = begin;
            while (end < sizes.size() && numbers_from(from, to) < numbers_of_piece) {
                ++to.patterns;
                to.items += sizes[end];
                to.occurrences += options_.with_occurrences ? counts[end] : 0;
                ++end;
            }
            const auto among = [&](const std::vector<std::uint32_t>& values) {
                return std::span(values).subspan(begin, end - begin);
            };
            append(device, from, to, among(sizes), among(counts), out.patterns);
            begin = end;
            from = to;
        }
        return out;
    }

    void append(const pattern_device& device, const task_place& from, const task_place& to,
                std::span<const std::uint32_t> sizes, std::span<const std::uint32_t> counts,
                pattern_table& table) const {
        table.window_bins = items_.window_bins();
        const std::size_t items = table.items.size();
        const std::size_t occurrences = table.occurrences.size();
        table.counts.insert(table.counts.end(), counts.begin(), counts.end());
        table.items.resize(items + (to.items - from.items));
        table.occurrences.resize(occurrences + (to.occurrences - from.occurrences));
        device.read(from, {{},
                           {},
                           std::span(table.items).subspan(items),
                           std::span(table.occurrences).subspan(occurrences)});
        append_sums(sizes, table.item_offsets);
        if (options_.with_occurrences) append_sums(counts, table.occurrence_offsets);
    }

    const pattern_mining_options& options_;
    const block_taker& take_;
    const execution& run_;
    rule_set rules_;
    item_index items_;
    preceding_spikes before_;
    pattern_recording recording_;
    part_searches parts_;
    std::vector<search_task> planned_{};  // if the CPU has to search below some root
    mining_summary summary_{.ran_on = spade_strategy::first_bin};
};

}  // namespace

mining_summary mine_on_device(const device_opener& open, const spade_windows& windows,
                              const pattern_mining_options& options, const block_taker& take,
                              const execution& run) {
    device_search search(windows, options, take, run);
    const std::unique_ptr<pattern_device> device = open(search.recording());
    if (!device) return mine_first_bin(windows, options, take, run);
    return search.run(*device);
}

}  // namespace spikeweave::spade
