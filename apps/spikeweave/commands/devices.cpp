#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/mine/episodes/hybrid.hpp"

namespace spikeweave::cli {
namespace {

struct devices_command {
    bool json = false;
    bool calibrate = false;
};

// Lists sizes with the number of episodes from which `hybrid` gives each episode a thread.
nlohmann::ordered_json crossovers_of(const device_info& one) {
    const auto kept = load_hybrid_calibration(one);
    if (!kept) return nullptr;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& [size, episodes] : kept->crossovers)
        list.push_back({{"size", size}, {"episodes", episodes}});
    return list;
}

std::string crossovers_text(const device_info& one) {
    const auto kept = load_hybrid_calibration(one);
    if (!kept) return "        not calibrated (--calibrate)\n";
    std::string text = "        a thread for each episode from";
    for (const auto& [size, episodes] : kept->crossovers)
        text += fmt::format("{} {} of size {}", size == kept->crossovers.front().size ? "" : ",",
                            grouped(episodes), size);
    return text + " on\n";
}

nlohmann::ordered_json as_json(const std::vector<device_info>& all) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const device_info& one : all)
        list.push_back(
            {{"device", fmt::format("cuda:{}", one.ordinal)},
             {"name", one.name},
             {"memory_bytes", one.total_bytes},
             {"free_bytes", one.free_bytes},
             {"multiprocessors", one.multiprocessors},
             {"compute_capability", fmt::format("{}.{}", one.compute_major, one.compute_minor)},
             {"driver", one.driver},
             {"driver_cuda", one.driver_cuda},
             {"hybrid_crossovers", crossovers_of(one)}});
    nlohmann::ordered_json document{{"devices", list}};
    if (all.empty()) document["why_none"] = device_unavailable_reason();
    return document;
}

std::string as_text(const std::vector<device_info>& all) {
    if (all.empty())
        return fmt::format("No usable GPU: {}.\nEverything runs on the CPU.\n",
                           device_unavailable_reason());
    std::string text;
    for (const device_info& one : all) {
        text += fmt::format(
            "cuda:{}  {}, {} of memory ({} free), compute capability {}.{}, {} multiprocessors, "
            "driver {} (CUDA {})\n",
            one.ordinal, one.name, format_memory(one.total_bytes), format_memory(one.free_bytes),
            one.compute_major, one.compute_minor, one.multiprocessors,
            one.driver.empty() ? "of an unknown version" : one.driver, one.driver_cuda);
        text += crossovers_text(one);
    }
    return text;
}

void run(devices_command& options, session& now) {
    const std::vector<device_info> all = spikeweave::devices();
    if (options.calibrate) {
        if (all.empty()) throw device_error(device_unavailable_reason());
        for (const device_info& one : all) calibrate_hybrid(one.ordinal, now.run());
    }
    if (options.json)
        write_stdout(as_json(all).dump(2) + "\n");
    else if (!now.quiet)
        write_stdout(as_text(all));
}

}  // namespace

void add_devices(CLI::App& app, command& chosen) {
    const auto options = std::make_shared<devices_command>();
    CLI::App& sub = *app.add_subcommand("devices", "List usable GPUs.");
    sub.add_flag("--json", options->json, "print one JSON document");
    sub.add_flag("--calibrate", options->calibrate,
                 "measure each GPU, and keep what the strategy hybrid chooses by");
    sub.footer("Example: spikeweave devices --calibrate");
    choose(sub, chosen, options, &run);
}

}  // namespace spikeweave::cli
