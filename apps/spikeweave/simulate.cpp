#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "cli.hpp"
#include "output.hpp"
#include "spikeweave/spikeweave.hpp"
#include "values.hpp"

namespace spikeweave::cli {
namespace {

namespace fs = std::filesystem;

template <class Options>
struct simulate_options {
    Options what{};
    std::string to{};
    int threads = 0;
    bool overwrite = false;
};

// data/sym26.tsv.gz -> data/sym26.truth.tsv
fs::path truth_path(const fs::path& spikes) {
    fs::path stem = spikes;
    if (stem.extension() == ".gz") stem.replace_extension();
    return stem.replace_extension(".truth.tsv");
}

// A file beside another that takes its name, or goes.
struct aside {
    explicit aside(const fs::path& target)
        : path(target.parent_path() /
               fmt::format(".{}.{}.new", target.filename().string(), ::getpid())) {}
    ~aside() {
        std::error_code ignored;
        fs::remove(path, ignored);
    }
    aside(const aside&) = delete;
    aside& operator=(const aside&) = delete;
    aside(aside&&) = delete;
    aside& operator=(aside&&) = delete;

    void replace(const fs::path& target) const {
        std::error_code error;
        fs::rename(path, target, error);
        if (!error) return;
        std::error_code ignored;
        fs::remove(target, ignored);  // of spikes that are no more
        throw io_error(fmt::format("'{}': cannot be written, but its spikes were: {}",
                                   target.string(), error.message()));
    }

    fs::path path;
};

template <class Made, class Options>
using generator = Made (*)(const Options&, const execution&);

std::string_view what_is_planted(const simulated_spikes&) {
    return "connections";
}
std::string_view what_is_planted(const simulated_patterns&) {
    return "patterns";
}

template <class Made, class Options>
void simulate(const simulate_options<Options>& options, generator<Made, Options> generate,
              session& now) {
    const fs::path truth = truth_path(options.to);
    check_output_place(options.to, options.overwrite);
    check_output_place(truth, options.overwrite);

    const Made made = generate(options.what, now.run(options.threads));
    now.stop_if_asked();
    // An earlier truth stays with its spikes until these are replaced: one without the other would
    // be taken for that of others.
    const aside new_truth(truth);
    write_truth(new_truth.path, made);
    write_spikes(options.to, made.spikes, now.run(options.threads));
    new_truth.replace(truth);
    now.progress.clear();
    if (now.quiet) return;
    write_stdout(fmt::format("wrote {} spikes of {} units to {}\nwrote {} planted {} to {}\n",
                             grouped(made.spikes.size()), grouped(made.spikes.unit_count()),
                             options.to, made.truth.size(), what_is_planted(made), truth.string()));
}

template <class Made, class Options>
void add_common(CLI::App& sub, const std::shared_ptr<simulate_options<Options>>& options,
                generator<Made, Options> generate, verb& chosen) {
    sub.add_option("-o,--output", options->to,
                   "file of spikes to write (.tsv .txt .csv, also with .gz; .npz; .nwb); the truth "
                   "goes beside it, as NAME.truth.tsv")
        ->required()
        ->type_name("OUT");
    add_value(sub, "--length", options->what.length, parse_positive_duration,
              "length of the recording [" + format_duration(options->what.length) + "]")
        ->type_name("TIME");
    add_value(
        sub, "--seed", options->what.seed,
        [](const std::string& text) { return parse_whole(text); },
        "one seed gives one result on every machine [0]")
        ->type_name("N");
    add_value(sub, "--threads", options->threads, parse_threads, "worker threads [all cores]")
        ->type_name("N");
    sub.add_flag("--overwrite", options->overwrite, "replace OUT and its truth if they exist");
    sub.callback([options, generate, &chosen] {
        chosen = [options, generate](session& now) { simulate(*options, generate, now); };
    });
}

CLI::Option* add_chains(CLI::App& sub, std::vector<std::uint32_t>& chains,
                        const std::string& standard) {
    return add_value(
               sub, "--chains", chains, parse_chains,
               "lengths of the planted chains, which take units from the first on, or none [" +
                   standard + "]")
        ->type_name("N,N,...");
}

template <class Options>
void add_transmission(CLI::App& sub, Options& what) {
    add_value(sub, "--probability", what.probability, parse_fraction,
              fmt::format("that a spike is passed on along a chain [{}]", what.probability))
        ->type_name("P");
    add_value(sub, "--delay", what.delay, parse_positive_duration,
              "from one unit of a chain to the next [" + format_duration(what.delay) + "]")
        ->type_name("TIME");
}

void add_sym26(CLI::App& parent, verb& chosen) {
    CLI::App& sub = *parent.add_subcommand(
        "sym26", "Poisson units coupled through a sigmoid, with two planted chains.");
    const auto options = std::make_shared<simulate_options<sym26_options>>();
    sym26_options& what = options->what;
    add_common(sub, options, &simulate_sym26, chosen);
    add_value(sub, "--units", what.units, parse_count, fmt::format("[{}]", what.units))
        ->type_name("N");
    add_chains(sub, what.chains, "4,8");
    add_value(sub, "--rest-rate", what.rest_rate_hz, parse_positive,
              fmt::format("of a unit without input [{} Hz]", what.rest_rate_hz))
        ->type_name("HZ");
    add_transmission(sub, what);
    add_value(sub, "--jitter", what.jitter, parse_duration,
              "each delay varies uniformly by up to this [0]")
        ->type_name("TIME");
    sub.add_flag("--background", what.background,
                 "connect a quarter of all pairs, about at chance level");
    sub.footer("Example: spikeweave simulate sym26 --seed 1 -o sym26.tsv");
}

void add_culture(CLI::App& parent, verb& chosen) {
    CLI::App& sub = *parent.add_subcommand(
        "culture", "A dissociated culture: quiet channels and bursts in which all fire.");
    const auto options = std::make_shared<simulate_options<culture_options>>();
    culture_options& what = options->what;
    add_common(sub, options, &simulate_culture, chosen);
    add_value(sub, "--channels", what.channels, parse_count, fmt::format("[{}]", what.channels))
        ->type_name("N");
    add_value(sub, "--background-rate", what.background_hz, parse_not_negative,
              fmt::format("of a channel between bursts [{} Hz]", what.background_hz))
        ->type_name("HZ");
    add_value(sub, "--burst-every", what.burst_every, parse_positive_duration,
              "mean time between bursts [" + format_duration(what.burst_every) + "]")
        ->type_name("TIME");
    add_value(sub, "--burst-length", what.burst_length, parse_positive_duration,
              "[" + format_duration(what.burst_length) + "]")
        ->type_name("TIME");
    add_value(sub, "--burst-low", what.burst_low_hz, parse_not_negative,
              fmt::format("lowest rate in a burst [{} Hz]", what.burst_low_hz))
        ->type_name("HZ");
    add_value(sub, "--burst-high", what.burst_high_hz, parse_positive,
              fmt::format("highest rate in a burst [{} Hz]", what.burst_high_hz))
        ->type_name("HZ");
    add_chains(sub, what.chains, "none");
    add_transmission(sub, what);
    sub.footer("Example: spikeweave simulate culture --length 10min -o culture.npz");
}

void add_poisson(CLI::App& parent, verb& chosen) {
    CLI::App& sub = *parent.add_subcommand("poisson", "Independent Poisson units: the null.");
    const auto options = std::make_shared<simulate_options<poisson_options>>();
    poisson_options& what = options->what;
    add_common(sub, options, &simulate_poisson, chosen);
    add_value(sub, "--units", what.units, parse_count, fmt::format("[{}]", what.units))
        ->type_name("N");
    add_value(sub, "--rate", what.rate_hz, parse_positive,
              fmt::format("of every unit [{} Hz]", what.rate_hz))
        ->type_name("HZ");
    sub.footer("Example: spikeweave simulate poisson --units 100 --rate 5 -o null.tsv.gz");
}

void add_patterns(CLI::App& parent, verb& chosen) {
    CLI::App& sub = *parent.add_subcommand(
        "patterns", "Independent units with spike patterns planted among them, for SPADE.");
    const auto options = std::make_shared<simulate_options<patterns_options>>();
    patterns_options& what = options->what;
    add_common(sub, options, &simulate_patterns, chosen);
    add_value(sub, "--units", what.units, parse_count, fmt::format("[{}]", what.units))
        ->type_name("N");
    add_value(sub, "--patterns", what.patterns, parse_chains,
              "spikes of each planted pattern; patterns take units from the first on; or none [5]")
        ->type_name("N,N,...");
    add_value(sub, "--occurrences", what.occurrences, parse_count,
              fmt::format("of each pattern [{}]", what.occurrences))
        ->type_name("N");
    add_value(sub, "--lag", what.lag, parse_positive_duration,
              "from one spike of a pattern to the next [" + format_duration(what.lag) + "]")
        ->type_name("TIME");
    add_value(sub, "--rate", what.rate_hz, parse_positive,
              fmt::format("mean of a unit without its planted spikes [{} Hz]", what.rate_hz))
        ->type_name("HZ");
    add_value(sub, "--rates", what.rates, value_named<rate_profile>,
              "constant; spread: each unit its own; steps: all faster together, for 100 ms of each "
              "second; wave: one after the other [constant]")
        ->type_name("PROFILE");
    add_value(sub, "--gamma", what.gamma_order, parse_count,
              "order of the intervals' gamma distribution: 1 is Poisson, more is more regular [1]")
        ->type_name("ORDER");
    add_value(sub, "--dead-time", what.dead_time, parse_duration,
              "between two spikes of a unit [0]")
        ->type_name("TIME");
    sub.footer(
        "Example: spikeweave simulate patterns --units 50 --rate 8 --patterns 5,3 --seed 1 -o "
        "hidden.tsv");
}

}  // namespace

void add_simulate(CLI::App& app, verb& chosen) {
    CLI::App& sub = *app.add_subcommand(
        "simulate", "Make spikes whose connections are known, or a recording whose spikes are.");
    sub.require_subcommand(1);
    add_sym26(sub, chosen);
    add_culture(sub, chosen);
    add_poisson(sub, chosen);
    add_patterns(sub, chosen);
    add_simulate_recording(sub, chosen);
    add_simulate_features(sub, chosen);
    sub.footer("Example: spikeweave simulate sym26 --seed 1 -o sym26.tsv");
}

}  // namespace spikeweave::cli
