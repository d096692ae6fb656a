#include <memory>

#include "commands/commands.hpp"
#include "spikeweave/report/doctor.hpp"

namespace spikeweave::cli {
namespace {

struct doctor_command {
    bool json = false;
};

void run(doctor_command& options, invocation& call) {
    const installation_text found = examine_installation();
    call.print(options.json, found.json, found.terminal);
}

}  // namespace

void declare_doctor(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<doctor_command>();
    add_json(sub, options->json);
    sub.footer("Example: spikeweave doctor");
    choose(sub, chosen, options);
}

}  // namespace spikeweave::cli
