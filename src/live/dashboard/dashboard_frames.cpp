#include "live/dashboard/dashboard_frames.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace spikeweave::live {
namespace {

using json_value = nlohmann::json;

constexpr int frame_version = 1;
constexpr std::size_t columns_of_a_frame = 500;
constexpr std::size_t columns_of_a_minute = 6'000;  // the longest time that the page shows at once
constexpr std::size_t most_counted = 2'000;
constexpr std::size_t most_counted_numbers = 10'000;
constexpr std::size_t most_density_bytes = std::size_t{1} << 18;
constexpr std::size_t most_kept_bytes = std::size_t{1} << 22;

// Names are of any bytes; what is not UTF-8 is replaced.
std::string frame_text(const json_value& value) {
    return value.dump(-1, ' ', false, json_value::error_handler_t::replace);
}

json_value frame_json(const time_span& span) {
    return {span.begin.count(), span.end.count()};
}

json_value frame_json(const session_counts& counts) {
    return {{"spikes", counts.order.accepted},
            {"late", counts.order.late},
            {"duplicates", counts.order.duplicates},
            {"missing", counts.missing},
            {"belated", counts.belated},
            {"unreadable", counts.unreadable},
            {"epochs", counts.epochs},
            {"detections", counts.detections},
            {"triggers", counts.triggers()},
            {"windows", counts.windows},
            {"incomplete", counts.incomplete},
            {"skipped", counts.skipped}};
}

json_value frame_json(const latency_histogram& latency) {
    json_value counts = json_value::array();
    std::uint64_t before = 0;
    for (std::size_t i = 0; i <= latency_histogram::bounds_s.size(); ++i)
        counts.push_back(latency.count_up_to(i) - std::exchange(before, latency.count_up_to(i)));
    return counts;
}

// The quantiles of the time of each stage, in seconds.
json_value stages_json(const monitored_state& state) {
    json_value all = json_value::array();
    for (std::size_t i = 0; i < stage_names.size(); ++i)
        if (const latency_histogram& one = state.stages[i]; one.count() > 0)
            all.push_back({stage_names[i], one.count(), one.within_s(0.5), one.within_s(0.99),
                           one.within_s(0.999)});
    return all;
}

json_value frame_json(const std::optional<sampling_state>& samples) {
    if (!samples) return nullptr;
    return {{"behind_s", samples->behind_s},
            {"most_behind_s", samples->most_behind_s},
            {"left_out", samples->left_out},
            {"motion_um", samples->motion_um},
            {"warnings", samples->warnings}};
}

json_value frame_json(const shown_window& window) {
    json_value pairs = json_value::array();
    for (const auto& [counted, expected, is_significant] : window.pairs)
        pairs.push_back({to_index(counted.what.units[0]), to_index(counted.what.units[1]),
                         counted.what.delays[0].low.count(), counted.what.delays[0].high.count(),
                         counted.count, expected, is_significant});
    json_value made{{"window", window.bounds.number},
                    {"epoch", window.epoch},
                    {"t_us", {window.bounds.begin.count(), window.bounds.end.count()}},
                    {"spikes", window.spikes},
                    {"threshold", window.threshold},
                    {"is_skipped", window.is_skipped},
                    {"has_gap", window.has_gap},
                    {"complete_to_size", nullptr},
                    {"by_size", window.by_size},
                    {"pairs", std::move(pairs)}};
    if (window.complete_to_size) made["complete_to_size"] = *window.complete_to_size;
    return made;
}

// The newest ones, as many as are not too many numbers.
json_value frame_json(const std::vector<shown_counts>& counted) {
    json_value all = json_value::array();
    std::size_t numbers = 0;
    auto one = counted.end();
    while (one != counted.begin() && numbers < most_counted_numbers)
        numbers += (--one)->counts.size();
    for (; one != counted.end(); ++one)
        all.push_back({{"t_us", frame_json(one->window)}, {"counts", one->counts}});
    return all;
}

json_value frame_json(const std::vector<shown_detection>& detections) {
    json_value all = json_value::array();
    for (const auto& [number, armed, begin, end, suppressed, times] : detections)
        all.push_back({number, armed, begin, end, to_string(suppressed), times});
    return all;
}

json_value frame_json(const std::vector<shown_tally>& tallies) {
    json_value all = json_value::array();
    for (const auto& [detections, triggers, per_minute] : tallies)
        all.push_back(
            {detections, triggers, per_minute < 0 ? json_value() : json_value(per_minute)});
    return all;
}

std::string message_of(const std::string& text, const std::string& density) {
    std::string bytes = "SWD1";
    for (unsigned shift = 0; shift < 32; shift += 8)
        bytes += static_cast<char>((text.size() >> shift) & 0xFFU);
    return bytes + text + density;
}

}  // namespace

// A column is complete when a later spike has come, or the watermark is beyond it.
dashboard_frames::columns dashboard_frames::take_columns(const session_news& news,
                                                         const monitored_state& state) {
    if (std::exchange(epoch_, news.epoch) != news.epoch) {
        cells_.clear();
        next_.reset();
        kept_.clear();
        counted_.clear();
    }
    cells_.insert(cells_.end(), news.cells.begin(), news.cells.end());
    if (!next_ && cells_.empty()) return {};
    std::int64_t end = next_.value_or(std::numeric_limits<std::int64_t>::min());
    if (!cells_.empty()) end = std::max(end, cells_.back().column + (news.has_ended ? 1 : 0));
    // The state of the session may still be that of the epoch before.
    if (state.watermark_us && state.counts.epochs == epoch_ && *state.watermark_us >= 0)
        end = std::max(end, *state.watermark_us / column_us);
    std::int64_t begin = next_ ? *next_ : cells_.front().column;
    begin = std::max(begin, end - most_columns(most_density_bytes, columns_of_a_frame));
    next_ = end;

    columns made{
        .first = begin, .units = units_.size(), .number = static_cast<std::size_t>(end - begin)};
    made.counts.resize(made.number * units_.size());
    const auto later =
        std::ranges::find_if(cells_, [&](const spike_cell& cell) { return cell.column >= end; });
    for (auto cell = cells_.begin(); cell != later; ++cell) {
        if (cell->column < begin) continue;
        char& count = made.counts[static_cast<std::size_t>(cell->column - begin) * units_.size() +
                                  to_index(cell->unit)];
        if (static_cast<unsigned char>(count) < 255) ++count;
    }
    cells_.erase(cells_.begin(), later);
    return made;
}

// The number of columns that are not too many bytes.
std::int64_t dashboard_frames::most_columns(std::size_t bytes, std::size_t number) const {
    return static_cast<std::int64_t>(
        std::clamp<std::size_t>(bytes / std::max<std::size_t>(units_.size(), 1), 1, number));
}

void dashboard_frames::keep(const columns& newest, const std::vector<shown_counts>& counted) {
    if (newest.number > 0) kept_.push_back(newest);
    while (!kept_.empty() && kept_.front().end() + static_cast<std::int64_t>(columns_of_a_minute) <=
                                 kept_.back().end())
        kept_.pop_front();
    counted_.insert(counted_.end(), counted.begin(), counted.end());
    if (counted_.size() > most_counted)
        counted_.erase(counted_.begin(), counted_.end() - most_counted);
}

std::string dashboard_frames::opening() const {
    const std::int64_t end = kept_.empty() ? 0 : kept_.back().end();
    const std::int64_t most = most_columns(most_kept_bytes, columns_of_a_minute);
    const std::int64_t begin = kept_.empty() ? 0 : std::max(kept_.front().first, end - most);
    std::string density(static_cast<std::size_t>(end - begin) * units_.size(), '\0');
    for (const columns& part : kept_)
        for (std::int64_t column = std::max(begin, part.first); column < part.end(); ++column)
            part.counts.copy(&density[static_cast<std::size_t>(column - begin) * units_.size()],
                             part.units,
                             static_cast<std::size_t>(column - part.first) * part.units);
    json_value text = json_value::parse(last_);
    text["first_column"] = begin;
    text["columns"] = end - begin;
    text["counted"] = frame_json(counted_);
    return message_of(frame_text(text), density);
}

std::string dashboard_frames::next(session_news news,
                                   const std::shared_ptr<const shown_window>& window,
                                   const monitored_state& state) {
    std::ranges::move(news.units, std::back_inserter(units_));
    std::ranges::move(news.armed, std::back_inserter(armed_));
    std::ranges::move(news.detections, std::back_inserter(detections_));
    if (detections_.size() > session_news::most_detections)
        detections_.erase(detections_.begin(), detections_.end() - session_news::most_detections);
    const columns density = take_columns(news, state);
    keep(density, news.counted);

    json_value text{{"frame", number_++},
                    {"has_ended", news.has_ended},
                    {"units", units_.size()},
                    {"armed", armed_.size()},
                    {"epoch", epoch_},
                    {"first_column", density.first},
                    {"columns", density.number},
                    {"counts", frame_json(news.counts)},
                    {"latency", frame_json(state.latency)},
                    {"stages", stages_json(state)},
                    {"samples", frame_json(state.sampling)},
                    {"tallies", frame_json(news.tallies)},
                    {"detections", frame_json(detections_)},
                    {"counted", frame_json(news.counted)},
                    {"window", nullptr}};
    if (window) text["window"] = frame_json(*window);
    last_ = frame_text(text);
    return message_of(last_, density.counts);
}

std::string dashboard_frames::description() const {
    json_value armed = json_value::array();
    for (const auto& [is_pattern, units] : armed_) {
        json_value numbers = json_value::array();
        for (const unit_id unit : units) numbers.push_back(to_index(unit));
        armed.push_back({{"is_pattern", is_pattern}, {"units", std::move(numbers)}});
    }
    return frame_text({{"version", frame_version},
                       {"column_us", column_us},
                       {"latency_bounds_s", latency_histogram::bounds_s},
                       {"units", units_},
                       {"armed", std::move(armed)}});
}

}  // namespace spikeweave::live
