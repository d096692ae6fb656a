#include "spikeweave/pipeline/run_options.hpp"

namespace spikeweave {

option_list describe_threads(run_options& options) {
    constexpr double most = 4096;
    option_list list;
    list.begin_group("Computation");
    list.add("threads", options.threads, "number of worker threads; 0 uses all cores")
        .at_most(most);
    return list;
}

option_list describe(run_options& options, const std::string& device_help) {
    option_list list = describe_threads(options);
    list.begin_group("Computation");
    list.add("device", options.devices, device_help).basic().written("DEVICE");
    return list;
}

}  // namespace spikeweave
