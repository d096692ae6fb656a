#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/stop.hpp"
#include "core/text.hpp"
#include "io/file_error.hpp"
#include "io/little_endian.hpp"
#include "io/session_schema.hpp"
#include "spikes/files/readers.hpp"
#include "spikes/files/time_scale.hpp"

namespace spikeweave::spikes {
namespace {

// The spikes of a block that were analysed.
class analysed_spikes {
public:
    analysed_spikes(const io::statement& row, const reading& job, std::int64_t number)
        : spikes_(row.bytes(0)), left_out_(row.bytes(1)), job_(&job), number_(number) {
        if (spikes_.size() % io::session_spike_bytes != 0)
            throw fail(fmt::format("found {} bytes of spikes, expected {} for each", spikes_.size(),
                                   io::session_spike_bytes));
        if (left_out_.size() % sizeof(std::uint32_t) != 0)
            throw fail(fmt::format("found {} bytes of numbers of spikes, expected 4 for each",
                                   left_out_.size()));
    }

    template <class Take>
    void each(const Take& take) const {
        std::string_view left_out = left_out_;
        const std::size_t count = spikes_.size() / io::session_spike_bytes;
        for (std::size_t i = 0; i < count; ++i) {
            if (!left_out.empty() && io::load<std::uint32_t>(left_out.data()) == i) {
                left_out.remove_prefix(sizeof(std::uint32_t));
                continue;
            }
            const char* const at = spikes_.data() + i * io::session_spike_bytes;
            take(io::load<std::int64_t>(at), io::load<std::uint32_t>(at + sizeof(std::int64_t)));
        }
        if (!left_out.empty())
            throw fail(
                fmt::format("found {} as the number of a spike that was left out, expected "
                            "ascending numbers below {}",
                            io::load<std::uint32_t>(left_out.data()), count));
    }

    io_error fail(const std::string& why) const {
        return io::file_error(job_->path, fmt::format("table input, row {}", number_), why);
    }

private:
    std::string_view spikes_;
    std::string_view left_out_;
    const reading* job_;
    std::int64_t number_;
};

std::vector<unit_id> units_of(io::database& session, spike_sequence_builder& builder) {
    std::vector<unit_id> units;
    const auto row = session.prepare("SELECT id, name FROM unit ORDER BY id");
    while (row->next_row()) {
        if (row->count(0) != units.size() || !io::is_printable_utf8(row->text(1)))
            throw io::file_error(
                session.path(), "table unit",
                fmt::format("found the id {} and the name {}, expected the id {} "
                            "and a printable name",
                            row->number(0), io::shown(row->text(1)), units.size()));
        units.push_back(builder.unit(row->text(1)));
    }
    return units;
}

// Times of different epochs cannot be compared, so only the epoch with most spikes is read.
std::int64_t largest_epoch(io::database& session, spike_file& file) {
    std::map<std::int64_t, std::uint64_t> spikes;
    std::uint64_t all = 0, unrecorded = 0;
    const auto row = session.prepare("SELECT epoch, length(spikes), unrecorded FROM input");
    while (row->next_row()) {
        const std::uint64_t count = row->count(1) / io::session_spike_bytes;
        spikes[row->number(0)] += count;
        all += count;
        unrecorded += row->count(2);
    }
    if (unrecorded > 0)
        file.warnings.push_back(
            fmt::format("{} blocks and results of the session are not in the file, because the "
                        "disk was too slow.",
                        core::grouped(unrecorded)));
    if (spikes.empty()) return 0;
    const auto most = std::max_element(
        spikes.begin(), spikes.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; });
    if (spikes.size() > 1)
        file.warnings.push_back(fmt::format(
            "The clock started again during the session, so times are comparable only within its "
            "{} epochs; epoch {} with {} of {} spikes is read.",
            spikes.size(), most->first, core::grouped(most->second), core::grouped(all)));
    return most->first;
}

}  // namespace

spike_file read_session(const reading& job) {
    const auto session = io::open_database(job.path, io::database::access::read);
    session->run("BEGIN");  // later writes are not read
    io::check_session_tables(*session);
    spike_file file;
    spike_sequence_builder builder;
    const std::vector<unit_id> units = units_of(*session, builder);
    const std::int64_t epoch = largest_epoch(*session, file);
    const auto row =
        session->prepare("SELECT spikes, left_out, seq FROM input WHERE epoch = ? ORDER BY seq");
    row->bind(1, epoch);
    while (row->next_row()) {
        core::throw_if_stopped(job.run.stop);
        const analysed_spikes block(*row, job, row->number(2));
        block.each([&](std::int64_t time_us, std::uint32_t unit) {
            if (unit >= units.size())
                throw block.fail(fmt::format("found a spike of unit {}, but there are {} units",
                                             unit, units.size()));
            if (time_us > largest_time_us || time_us < -largest_time_us)
                throw block.fail(
                    fmt::format("found the time {} us, expected one within 73,000 "
                                "years",
                                time_us));
            if (time_us < 0 && !job.how.allow_negative)
                throw block.fail(found_before_zero(fmt::format("{} us", time_us)));
            builder.append(time_us, units[unit]);
        });
    }
    finish(file, builder, job);
    return file;
}

}  // namespace spikeweave::spikes
