#include "live/sinks/open_sinks.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "live/sinks/destination.hpp"
#include "live/sinks/lsl_markers.hpp"
#include "live/sinks/network_events.hpp"
#include "live/sinks/publisher.hpp"
#include "live/sinks/serial_bytes.hpp"
#include "live/sinks/window_table.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

// Lines that were written are in the file at once, so that others can follow it.
text_writer file_writer(const std::filesystem::path& path) {
    const auto out = std::make_shared<std::ofstream>(path, std::ios::binary);
    if (!*out) throw io_error(fmt::format("cannot write {}", path.string()));
    return [out, path](std::string_view text) {
        out->write(text.data(), static_cast<std::streamsize>(text.size()));
        if (!out->flush()) throw io_error(fmt::format("cannot write all of {}", path.string()));
    };
}

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

}  // namespace

delivery_reports open_sinks(const live_options& options, const session_options& analysis,
                            const text_writer& print, all_results& to) {
    const bool has_period = options.stats_every > duration{0};
    delivery_reports reports;
    std::vector<std::pair<std::unique_ptr<line_output>, duration>> outputs;
    std::vector<destination> inside;
    for (destination& one : parse_destinations(options.to)) {
        if (one.kind == destination_kind::caller || one.kind == destination_kind::file) {
            inside.push_back(std::move(one));
            continue;
        }
        check_episode(one, analysis);
        const auto report = std::make_shared<delivery_report>(one.text);
        reports.push_back(report);
        if (auto acting = reaction_to(one, report))
            to.add_reaction(std::move(acting));
        else
            outputs.emplace_back(zeromq_publisher(one.address, report),
                                 has_period ? options.stats_every : usual_stats_every);
    }
    for (const destination& one : inside) {
        if (one.kind == destination_kind::caller && !print) continue;
        const bool is_file = one.kind == destination_kind::file;
        outputs.emplace_back(
            std::make_unique<written_lines>(is_file ? file_writer(one.address) : print),
            options.stats_every);
    }
    for (auto& [output, every] : outputs)
        to.add(std::make_unique<json_results>(
            analysis.armed, std::move(output),
            json_results_options{every, reports, analysis.patterns}));
    if (!options.window_table.empty())
        to.add(std::make_unique<window_table>(file_writer(options.window_table)));
    return reports;
}

}  // namespace spikeweave::live
