#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli.hpp"
#include "output.hpp"
#include "spikeweave/core/options.hpp"

namespace spikeweave::cli {

void session::warn(const std::vector<std::string>& warnings) const {
    if (quiet || !is_root() || warnings.empty()) return;
    progress.clear();
    for (const std::string& warning : warnings)
        write_stderr(fmt::format("spikeweave: warning: {}\n", with_command_line_names(warning)));
}

void session::warn(run_record& record, const std::vector<std::string>& warnings) const {
    std::vector<std::string> news;
    for (const std::string& warning : warnings) {
        std::string text = with_command_line_names(warning);
        if (std::find(record.warnings.begin(), record.warnings.end(), text) ==
            record.warnings.end())
            news.push_back(std::move(text));
    }
    record.warnings.insert(record.warnings.end(), news.begin(), news.end());
    warn(news);
}

}  // namespace spikeweave::cli
