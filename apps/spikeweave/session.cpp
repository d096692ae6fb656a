#include <fmt/format.h>

#include <algorithm>

#include "cli.hpp"
#include "output.hpp"

namespace spikeweave::cli {

void session::warn(const std::vector<std::string>& warnings) const {
    if (quiet || !is_root() || warnings.empty()) return;
    progress.clear();
    for (const std::string& warning : warnings)
        write_stderr(fmt::format("spikeweave: warning: {}\n", warning));
}

void session::warn(run_record& record, const std::vector<std::string>& warnings) const {
    std::vector<std::string> news;
    for (const std::string& warning : warnings)
        if (std::find(record.warnings.begin(), record.warnings.end(), warning) ==
            record.warnings.end())
            news.push_back(warning);
    record.warnings.insert(record.warnings.end(), news.begin(), news.end());
    warn(news);
}

}  // namespace spikeweave::cli
