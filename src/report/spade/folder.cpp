#include <array>
#include <string_view>
#include <utility>

#include "core/stop.hpp"
#include "io/atomic_file.hpp"
#include "io/result_folder.hpp"
#include "report/page_spikes.hpp"
#include "report/result_files.hpp"
#include "report/spade/lines.hpp"
#include "report/spade/view.hpp"

namespace spikeweave {
namespace {

// Writes all files but `patterns.tsv`.
void write_others(const io::result_folder& out, const report::pattern_view& p,
                  const execution& run) {
    core::throw_if_stopped(run.stop);
    if (p.report.with_nwb) report::write_pattern_nwb(out.file("patterns.nwb"), p);
    report::write_result(
        out, report::document_of(p),
        p.report.with_page && p.report.spikes.size() <= report::most_spikes_of_a_page, run);
}

}  // namespace

void write_pattern_report(const std::filesystem::path& folder, const pattern_report& report,
                          bool overwrite, const execution& run) {
    const report::pattern_view p(report);
    io::result_folder out(folder, overwrite, report::files_of(result_kind::spade));
    io::atomic_file patterns(out.file("patterns.tsv"));
    report::write_patterns(
        p, [&](std::string_view piece) { patterns.write(piece); }, run);
    patterns.commit();
    write_others(out, p, run);
    out.commit(run.stop);
}

struct pattern_stream::state {
    io::result_folder folder;
    io::atomic_file file;
    report::pattern_lines lines;
    std::uint64_t patterns = 0;

    state(const std::filesystem::path& target, const pattern_axes& axes, bool with_occurrences,
          bool overwrite)
        : folder(target, overwrite, report::files_of(result_kind::spade)),
          file(folder.file("patterns.tsv")),
          lines(axes, {.occurrences = with_occurrences}) {
        file.write(lines.header());
    }
    void flush() {
        file.write(lines.text());
        lines.clear();
    }
};

pattern_stream::pattern_stream(const std::filesystem::path& folder, const pattern_axes& axes,
                               bool with_occurrences, bool overwrite)
    : state_(std::make_unique<state>(folder, axes, with_occurrences, overwrite)) {}

pattern_stream::~pattern_stream() = default;

void pattern_stream::take(const pattern_table& block) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    for (std::size_t i = 0; i < block.size(); ++i) {
        state_->lines.append(++state_->patterns, block, i);
        if (state_->lines.text().size() >= piece) state_->flush();
    }
}

void pattern_stream::commit(const pattern_report& report, const execution& run) {
    const report::pattern_view p(report);
    state_->flush();
    state_->file.commit();
    write_others(state_->folder, p, run);
    state_->folder.commit(run.stop);
}

}  // namespace spikeweave
