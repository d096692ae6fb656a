#include "spikeweave/report/devices.hpp"

#include <fmt/format.h>

#include "core/text.hpp"
#include "report/run_json.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/published/hybrid.hpp"

namespace spikeweave {

using report::json;

namespace {

// Lists sizes with the number of episodes from which `hybrid` gives each episode a thread.
json crossovers_of(const device_info& one) {
    const auto kept = load_hybrid_calibration(one);
    if (!kept) return nullptr;
    json list = json::array();
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
                            core::grouped(episodes), size);
    return text + " on\n";
}

}  // namespace

std::string to_json(std::span<const device_info> all) {
    json list = json::array();
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
    json document{{"devices", list}};
    if (all.empty()) document["why_none"] = device_unavailable_reason();
    return report::text_of(document);
}

std::string summarize(std::span<const device_info> all) {
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

}  // namespace spikeweave
