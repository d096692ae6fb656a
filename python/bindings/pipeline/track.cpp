#include "spikeweave/report/track.hpp"

#include <nanobind/stl/filesystem.h>

#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"

namespace spikeweave::python {
namespace {

// The document of the result, and what writes its folder.
nb::tuple track(const std::vector<std::filesystem::path>& folders,
                const std::vector<std::string>& labels, const nb::dict& given) {
    const auto held = std::make_shared<const tracking_report>(call_with<tracking_options>(
        given, [&](const tracking_options& options, const execution& run) {
            std::vector<session_spikes> sessions;
            for (const std::filesystem::path& folder : folders)
                sessions.push_back(read_session(folder, labels, run));
            return track_sessions(std::move(sessions), options, run);
        }));
    return nb::make_tuple(to_json(*held),
                          nb::cpp_function([held](const std::filesystem::path& to, bool overwrite) {
                              write_report(to, *held, overwrite);
                          }));
}

}  // namespace

void bind_track(nb::module_& m) {
    m.def("track", &track, "folders"_a, "labels"_a, "given"_a);
    m.def("track_options", &description<tracking_options>);
}

}  // namespace spikeweave::python
