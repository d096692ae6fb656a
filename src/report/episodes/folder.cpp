#include <string_view>

#include "io/atomic_file.hpp"
#include "io/result_folder.hpp"
#include "report/episodes/view.hpp"
#include "report/page_spikes.hpp"
#include "report/result_files.hpp"

namespace spikeweave {
void write_episode_report(const std::filesystem::path& folder, const episode_report& report,
                          bool overwrite, const execution& run) {
    const report::episode_view p(report);
    io::result_folder out(folder, overwrite, report::files_of(result_kind::episodes));
    out.write("lags.tsv", report::lags_tsv(p, run));
    out.write("circuit.graphml", report::circuit_graphml(p));
    out.write("circuit.svg", report::circuit_svg(p));
    if (report.with_occurrences) {
        io::atomic_file file(out.file("occurrences.tsv"));
        report::write_occurrences(
            p, [&](std::string_view piece) { file.write(piece); }, run);
        file.commit();
    }
    report::write_result(out, report::document_of(p),
                         report.with_page && report.spikes.size() <= report::most_spikes_of_a_page,
                         run);
    out.commit(run.stop);
}

}  // namespace spikeweave
