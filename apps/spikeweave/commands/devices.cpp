#include <vector>

#include "commands/commands.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/published/hybrid.hpp"
#include "spikeweave/report/devices.hpp"

namespace spikeweave::cli {
namespace {

struct devices_command {
    bool json = false;
    bool calibrate = false;
};

void run(devices_command& options, invocation& call) {
    const std::vector<device_info> all = spikeweave::devices();
    if (options.calibrate) {
        if (all.empty()) throw device_error(device_unavailable_reason());
        for (const device_info& device : all) calibrate_hybrid(device.ordinal, call.run());
    }
    call.print(options.json, to_json(all), summarize(all));
}

}  // namespace

void declare_devices(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<devices_command>();
    add_json(sub, options->json);
    sub.add_flag("--calibrate", options->calibrate,
                 "measure each GPU, and store the values by which the strategy hybrid chooses");
    sub.footer("Example: spikeweave devices --calibrate");
    choose(sub, chosen, options);
}

}  // namespace spikeweave::cli
