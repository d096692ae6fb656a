#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "io/zip.hpp"
#include "sort/files/model_arrays.hpp"
#include "sort/masked_gmm/model_parts.hpp"
#include "sort/templates/template_set.hpp"

namespace spikeweave {

namespace {

// Results have a place for each number up to the largest one.
constexpr std::int64_t most_label = 32'767;

using masked_gmm::cluster_fit;
using sort::model_reader;
using sort::read_basis;
using sort::reals;
using sort::wholes;
using sort::write_array;
using sort::write_basis;

constexpr std::int64_t version_without_basis = 1;
constexpr std::int64_t version_with_basis = 2;

constexpr double largest_real = std::numeric_limits<double>::max();
constexpr double smallest_real = std::numeric_limits<double>::min();

masked_gmm::feature_space read_space(const model_reader& file) {
    masked_gmm::feature_space space{.low = file.read<double>("low", model_reader::any)};
    const std::size_t features = space.low.size();
    if (features == 0) file.fail("low", 0, 0, "a feature");
    space.range = file.read<double>("range", features, smallest_real, largest_real);
    space.noise.mean = file.read<double>("noise_mean", features);
    space.noise.variance =
        file.read<double>("noise_variance", features, smallest_real, largest_real);
    return space;
}

// Reads the lower triangle row by row.
void set_root(const reals& roots, std::size_t at, cluster_fit& fit) {
    const auto u = static_cast<Eigen::Index>(fit.block.size());
    fit.root_inverse = Eigen::MatrixXd::Zero(u, u);
    for (Eigen::Index i = 0; i < u; ++i)
        for (Eigen::Index j = 0; j <= i; ++j) fit.root_inverse(i, j) = roots[at++];
    fit.inverse = fit.root_inverse.transpose() * fit.root_inverse;
}

std::size_t root_size(std::size_t block) {
    return block * (block + 1) / 2;
}

// Reads the block of each unit, in ascending order.
std::vector<std::vector<std::uint32_t>> read_blocks(const model_reader& file, std::size_t units,
                                                    std::size_t features) {
    const auto most = static_cast<std::int64_t>(features);
    const wholes sizes = file.read<std::int64_t>("block_sizes", units, 0, most);
    std::uint64_t all = 0;
    for (const std::int64_t size : sizes) all += static_cast<std::uint64_t>(size);
    const wholes columns = file.read<std::int64_t>("block_features", all, 0, most - 1);
    std::vector<std::vector<std::uint32_t>> blocks(units);
    std::size_t at = 0;
    for (std::size_t k = 0; k < units; ++k) {
        for (std::int64_t b = 0; b < sizes[k]; ++b, ++at) {
            if (b > 0 && columns[at] <= columns[at - 1])
                file.fail("block_features", at, static_cast<double>(columns[at]),
                          fmt::format("more than {}", columns[at - 1]));
            blocks[k].push_back(static_cast<std::uint32_t>(columns[at]));
        }
    }
    return blocks;
}

void read_units(const model_reader& file, sorting_model::parts& model) {
    const std::size_t features = model.space.low.size();
    const wholes labels = file.read<std::int64_t>("units", model_reader::any, 1, most_label);
    const std::size_t units = labels.size();
    const reals weights = file.read<double>("weights", units, smallest_real, largest_real);
    const reals plain = file.read<double>("constants", units);
    const reals means = file.read<double>("means", units * features);
    const reals diagonals =
        file.read<double>("inverse_diagonals", units * features, smallest_real, largest_real);
    const auto blocks = read_blocks(file, units, features);
    std::uint64_t root_numbers = 0;
    for (const auto& block : blocks) root_numbers += root_size(block.size());
    const reals roots = file.read<double>("root_inverses", root_numbers);
    std::size_t root_at = 0;
    for (std::size_t k = 0; k < units; ++k) {
        if (k > 0 && labels[k] <= labels[k - 1])
            file.fail("units", k, static_cast<double>(labels[k]),
                      fmt::format("more than {}", labels[k - 1]));
        model.units.push_back(static_cast<std::uint32_t>(labels[k]));
        const auto begin = static_cast<std::ptrdiff_t>(k * features);
        const auto end = begin + static_cast<std::ptrdiff_t>(features);
        cluster_fit fit{.weight = weights[k],
                        .plain = plain[k],
                        .block = blocks[k],
                        .block_index = std::vector<std::int32_t>(features, -1),
                        .mean = {means.begin() + begin, means.begin() + end},
                        .inverse_diagonal = {diagonals.begin() + begin, diagonals.begin() + end}};
        for (std::size_t b = 0; b < fit.block.size(); ++b)
            fit.block_index[fit.block[b]] = static_cast<std::int32_t>(b);
        set_root(roots, root_at, fit);
        root_at += root_size(fit.block.size());
        masked_gmm::write_out_around_noise(fit);
        model.fits.push_back(std::move(fit));
    }
}

void write_into(io::zip_writer& archive, const sorting_model& model) {
    const sorting_model::parts& what = model.internals();
    if (model.feature_count() == 0) throw invalid_argument("there is no model to write");
    if (!model.units().empty() && model.units().back() > most_label)
        throw invalid_argument(fmt::format(
            "the model has the unit {}, expected numbers up to {}: number the units from 1",
            model.units().back(), most_label));
    reals weights;
    reals plain;
    reals means;
    reals diagonals;
    reals roots;
    wholes sizes;
    wholes columns;
    for (const cluster_fit& fit : what.fits) {
        weights.push_back(fit.weight);
        plain.push_back(fit.plain);
        means.insert(means.end(), fit.mean.begin(), fit.mean.end());
        diagonals.insert(diagonals.end(), fit.inverse_diagonal.begin(), fit.inverse_diagonal.end());
        sizes.push_back(static_cast<std::int64_t>(fit.block.size()));
        columns.insert(columns.end(), fit.block.begin(), fit.block.end());
        for (Eigen::Index i = 0; i < fit.root_inverse.rows(); ++i)
            for (Eigen::Index j = 0; j <= i; ++j) roots.push_back(fit.root_inverse(i, j));
    }
    write_array<std::int64_t>(archive, "model_version",
                              {what.basis ? version_with_basis : version_without_basis});
    write_array(archive, "low", what.space.low);
    write_array(archive, "range", what.space.range);
    write_array(archive, "noise_mean", what.space.noise.mean);
    write_array(archive, "noise_variance", what.space.noise.variance);
    write_array(archive, "units", wholes(what.units.begin(), what.units.end()));
    write_array(archive, "weights", weights);
    write_array(archive, "constants", plain);
    write_array(archive, "means", means);
    write_array(archive, "inverse_diagonals", diagonals);
    write_array(archive, "block_sizes", sizes);
    write_array(archive, "block_features", columns);
    write_array(archive, "root_inverses", roots);
    write_array<double>(archive, "noise_cost", {what.noise_cost});
    write_array<double>(archive, "cost", {what.cost});
    write_array<std::int64_t>(archive, "spikes", {static_cast<std::int64_t>(what.spikes)});
    if (what.basis) write_basis(archive, *what.basis);
}

}  // namespace

struct model_file::state {
    io::zip_writer archive;
};

model_file::model_file(const std::filesystem::path& path, const sorting_model& model,
                       bool overwrite)
    : state_(new state{io::zip_writer(path, overwrite)}) {
    write_into(state_->archive, model);
    state_->archive.finish();
}

model_file::model_file(const std::filesystem::path& path, const template_set& set, bool overwrite)
    : state_(new state{io::zip_writer(path, overwrite)}) {
    templates::write_into(state_->archive, set);
    state_->archive.finish();
}

model_file::~model_file() = default;

void model_file::commit() {
    state_->archive.commit();
}

void write_model(const std::filesystem::path& path, const sorting_model& model) {
    model_file(path, model, true).commit();
}

void write_templates(const std::filesystem::path& path, const template_set& set) {
    model_file(path, set, true).commit();
}

sorting_model read_model(const std::filesystem::path& path) {
    const model_reader file(path);
    const wholes version =
        file.read<std::int64_t>("model_version", 1, version_without_basis, version_with_basis);
    sorting_model::parts model{.space = read_space(file)};
    read_units(file, model);
    model.noise_cost = file.read<double>("noise_cost", 1).front();
    model.cost = file.read<double>("cost", 1).front();
    model.spikes = static_cast<std::uint64_t>(
        file.read<std::int64_t>("spikes", 1, 1, std::numeric_limits<std::uint32_t>::max()).front());
    if (version.front() == version_with_basis) {
        model.basis = read_basis(file);
        if (const std::size_t features = model.basis->feature_count();
            features != model.space.low.size())
            throw io_error(fmt::format("'{}': found a basis of {} features, expected {}",
                                       path.string(), features, model.space.low.size()));
    }
    return sorting_model(std::make_shared<const sorting_model::parts>(std::move(model)));
}

}  // namespace spikeweave
