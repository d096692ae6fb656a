#include "spikeweave/report/track.hpp"

#include <nanobind/stl/filesystem.h>

#include <chrono>

#include "bindings/core/held_report.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"

namespace spikeweave::python {
namespace {

// The document of the result, and its report.
nb::tuple track(const std::vector<std::filesystem::path>& folders,
                const std::vector<std::string>& labels, const nb::dict& given) {
    const auto held = std::make_shared<const tracking_report>(call_with<tracking_options>(
        given, [&](const tracking_options& options, const execution& run) {
            const auto begin = std::chrono::steady_clock::now();
            std::vector<session_spikes> sessions;
            for (const std::filesystem::path& folder : folders)
                sessions.push_back(read_session(folder, labels, run));
            tracking_report report = track_sessions(std::move(sessions), options, run);
            report.run.seconds =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            return report;
        }));
    return nb::make_tuple(document_of(*held), held_report([held] { return *held; }));
}

}  // namespace

void bind_track(nb::module_& m) {
    m.def("track", &track, "folders"_a, "labels"_a, "given"_a);
    m.def("track_options", &description<tracking_options>);
}

}  // namespace spikeweave::python
