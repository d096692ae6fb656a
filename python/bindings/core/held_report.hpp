#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/core/call.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/report/run_record.hpp"

namespace spikeweave::python {

/// The call, as the record of its run has it.
struct call_record {
    std::string command{};
    std::vector<std::string> warnings{};
    std::vector<epoch_label> epoch_labels{};
};

/// A result as the library writes it, which the Python object of the result holds. The report,
/// which has a copy of the spikes, is made when it is asked for.
class held_report {
public:
    held_report() = default;
    /// @param make   returns the report
    template <class Make>
    explicit held_report(Make make) {
        // Not what the report and its page take besides.
        const auto called = [make, memory = peak_memory_bytes()](const call_record& call) {
            auto report = make();
            report.run.peak_memory_bytes = memory;
            report.run.command = call.command;
            report.run.warnings = call.warnings;
            report.run.epoch_labels = call.epoch_labels;
            return report;
        };
        summary_ = [called](const std::vector<std::string>& warnings) {
            return verdict_of(called({.warnings = warnings}));
        };
        document_ = [called](const call_record& call, const execution& run) {
            return document_of(called(call), run);
        };
        save_ = [called](const std::filesystem::path& folder, const call_record& call,
                         bool overwrite, const execution& run) {
            write_report(folder, called(call), overwrite, run);
        };
    }

    std::string summary(const std::vector<std::string>& warnings) const {
        return summary_(warnings);
    }
    /// @param call  as its labels, it gets those of this object
    std::string document(call_record call) const {
        call.epoch_labels = epoch_labels;
        return run_for_result([&](const execution& run) { return document_(call, run); });
    }
    void save(const std::filesystem::path& folder, call_record call, bool overwrite) const {
        call.epoch_labels = epoch_labels;
        run_unlocked([&](const execution& run) { save_(folder, call, overwrite, run); });
    }

    /// The labels of the epochs that the call was given.
    std::vector<epoch_label> epoch_labels{};

private:
    std::function<std::string(const std::vector<std::string>&)> summary_{};
    std::function<std::string(const call_record&, const execution&)> document_{};
    std::function<void(const std::filesystem::path&, const call_record&, bool, const execution&)>
        save_{};
};

/// The report of a result of these spikes, or of a part of them that it has.
/// @param given  the arguments of `report_of` between the spikes and the result
template <class Result, class... Given>
held_report report_on(const shared_spikes& spikes, std::shared_ptr<const Result> held,
                      const Given&... given) {
    return held_report([held = std::move(held), sequence = spikes.sequence, given...] {
        return report_of(held->chosen ? spike_sequence{} : *sequence, given..., *held);
    });
}

}  // namespace spikeweave::python
