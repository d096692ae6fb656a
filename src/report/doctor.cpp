#include "spikeweave/report/doctor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "report/run_json.hpp"
#include "spikeweave/core/built_with.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/version.hpp"
#include "spikeweave/parallel/thread_count.hpp"

namespace spikeweave {
namespace {

std::string text_of(const build_part& part) {
    return part.is_built
               ? fmt::format("{:<8} built with {}\n", part.name, part.details)
               : fmt::format("{:<8} missing, {}: {}\n", part.name, part.purpose, part.details);
}

// Finds the program that starts ranks; empty if it is not on the PATH.
std::string find_mpirun() {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string program = std::filesystem::path(folder) / "mpirun";
        if (::access(program.c_str(), X_OK) == 0) return program;
    }
    return "";
}

std::string text_of_launcher(const std::string& mpirun) {
    return mpirun.empty() ? fmt::format(
                                "{:<8} mpirun is missing: sudo apt-get install "
                                "openmpi-bin; without it only srun starts ranks\n",
                                "")
                          : fmt::format("{:<8} ranks are started by {}\n", "", mpirun);
}

std::string text_of_devices(const std::vector<device_info>& found) {
    if (found.empty())
        return fmt::format("{:<8} none is usable: {}; everything runs on the CPU\n", "",
                           device_unavailable_reason());
    std::string text;
    for (const device_info& one : found)
        text += fmt::format("{:<8} cuda:{} is usable: {}\n", "", one.ordinal, one.name);
    return text;
}

}  // namespace

installation_text examine_installation() {
    const int threads = thread_count({});
    const std::vector<device_info> found = devices();
    const std::string mpirun = find_mpirun();
    installation_text out;
    out.terminal =
        fmt::format("spikeweave {}\n{:<8} {} for this process\n", version(), "cores", threads);
    report::json parts = report::json::array();
    for (const build_part& part : built_with()) {
        out.terminal += text_of(part);
        if (part.name == "GPUs") out.terminal += text_of_devices(found);
        if (part.name == "MPI" && part.is_built) out.terminal += text_of_launcher(mpirun);
        parts.push_back({{"name", part.name},
                         {"purpose", part.purpose},
                         {"built", part.is_built},
                         {"details", part.details}});
    }
    report::json usable = report::json::array();
    for (const device_info& one : found)
        usable.push_back({{"device", fmt::format("cuda:{}", one.ordinal)}, {"name", one.name}});
    report::json document{
        {"version", version()}, {"cores", threads}, {"parts", parts}, {"devices", usable}};
    if (!mpirun.empty()) document["mpirun"] = mpirun;
    if (found.empty()) document["why_no_device"] = device_unavailable_reason();
    out.json = report::text_of(document);
    return out;
}

}  // namespace spikeweave
