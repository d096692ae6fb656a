#include "live/sinks/open_sinks.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "live/sinks/destination.hpp"
#include "live/sinks/line_queue.hpp"
#include "live/sinks/receivers.hpp"
#include "live/sinks/serial_bytes.hpp"
#include "live/sinks/window_table.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

// More may be armed later.
void check_episode(const destination& to, const session_options& analysis) {
    const std::size_t armed = analysis.armed.size() + analysis.patterns.patterns.size();
    if (!to.episode || *to.episode < armed || analysis.arming) return;
    throw invalid_argument("to", fmt::format("'{}': there is no episode {}; {} are armed, from 0",
                                             to.text, *to.episode, armed));
}

// A sink that acts on detections; null if the destination takes lines.
std::unique_ptr<reaction> reaction_to(const destination& to,
                                      const std::shared_ptr<delivery_report>& report) {
    if (to.kind == destination_kind::serial) return std::make_unique<serial_bytes>(to, report);
    if (to.kind == destination_kind::lsl) return lsl_markers(to, report);
    if (to.kind == destination_kind::zeromq) return nullptr;
    return network_events(to, report);
}

// Opens the destinations in the order in which nothing is left behind if one cannot be opened.
class opener {
public:
    opener(const live_options& options, const session_options& analysis, const line_taker& print,
           std::stop_token stop, all_results& to)
        : options_(&options),
          analysis_(&analysis),
          print_(&print),
          stop_(std::move(stop)),
          to_(&to) {}

    opened_sinks open() {
        const std::vector<destination> all = parse_destinations(options_->to);
        for (const destination& one : all)
            if (!takes_lines_at_once(one)) open_outside(one);
        for (const destination& one : all)
            if (takes_lines_at_once(one)) open_inside(one);
        std::optional<text_writer> table;
        if (const auto& path = options_->window_table; !path.empty())
            table = queued(file_taker(path, options_->overwrite), path.string());
        // Each tells in its lines what all others did not take.
        for (auto& [output, every] : outputs_)
            to_->add(std::make_unique<json_results>(
                analysis_->armed, std::move(output),
                json_results_options{every, opened_.reports, analysis_->patterns}));
        if (table) to_->add(std::make_unique<window_table>(std::move(*table)));
        return std::move(opened_);
    }

private:
    static bool takes_lines_at_once(const destination& one) {
        return one.kind == destination_kind::caller || one.kind == destination_kind::file;
    }

    std::shared_ptr<delivery_report> report_of(const std::string& name) {
        auto report = std::make_shared<delivery_report>(name);
        opened_.reports.push_back(report);
        return report;
    }

    void open_outside(const destination& one) {
        check_episode(one, *analysis_);
        const auto report = report_of(one.text);
        if (auto acting = reaction_to(one, report)) return to_->add_reaction(std::move(acting));
        const bool has_period = options_->stats_every > duration{0};
        outputs_.emplace_back(zeromq_publisher(one.address, report),
                              has_period ? options_->stats_every : usual_stats_every);
    }

    void open_inside(const destination& one) {
        const bool is_file = one.kind == destination_kind::file;
        if (!is_file && !*print_) return;
        outputs_.emplace_back(
            std::make_unique<written_lines>(
                queued(is_file ? file_taker(one.address, options_->overwrite) : *print_, one.text)),
            options_->stats_every);
    }

    text_writer queued(line_taker take, const std::string& name) {
        const bool may_wait = options_->speed == 0;
        const auto queue =
            std::make_shared<line_queue>(std::move(take), report_of(name), stop_, may_wait);
        opened_.queues.push_back(queue);
        return [queue](std::string_view text) { queue->write(text); };
    }

    const live_options* options_;
    const session_options* analysis_;
    const line_taker* print_;
    std::stop_token stop_;
    all_results* to_;
    opened_sinks opened_{};
    std::vector<std::pair<std::unique_ptr<line_output>, duration>> outputs_{};
};

}  // namespace

opened_sinks open_sinks(const live_options& options, const session_options& analysis,
                        const line_taker& print, const std::stop_token& stop, all_results& to) {
    return opener(options, analysis, print, stop, to).open();
}

}  // namespace spikeweave::live
