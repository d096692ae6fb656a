#include <string_view>

#include "io/atomic_file.hpp"
#include "io/result_folder.hpp"
#include "report/episodes/page_data.hpp"
#include "report/episodes/parts.hpp"
#include "report/page_spikes.hpp"
#include "report/result_files.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave {
void write_episode_report(const std::filesystem::path& folder, const episode_report& report,
                          bool overwrite, const execution& run) {
    const report::episode_view p(report);
    io::result_folder out(folder, overwrite, report::files_of(result_kind::episodes));
    io::atomic_file episodes(out.file("episodes.tsv"));
    report::write_episodes(
        p, [&](std::string_view piece) { episodes.write(piece); }, run);
    episodes.commit();
    out.write("circuit.tsv", report::circuit_tsv(p));
    out.write("lags.tsv", report::lags_tsv(p, run));
    out.write("circuit.graphml", report::circuit_graphml(p));
    out.write("circuit.svg", report::circuit_svg(p));
    if (report.pairs) out.write("pairs.tsv", report::pairs_tsv(p));
    if (report.searched && report.searched->confirmed_elsewhere)
        out.write("untested.tsv", report::untested_tsv(*report.searched));
    if (report.with_occurrences) {
        io::atomic_file file(out.file("occurrences.tsv"));
        report::write_occurrences(
            p, [&](std::string_view piece) { file.write(piece); }, run);
        file.commit();
    }
    out.write("run.json", report::run_json(p));
    if (report.with_page && report.spikes.size() <= report::most_spikes_of_a_page)
        out.write("report.html", page_of(report::episode_page_data(out.file(""), report.spikes,
                                                                   report.run.input.path, run)));
    out.commit(run.stop);
}

}  // namespace spikeweave
