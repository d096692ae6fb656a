#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// The corrections for multiple testing. They are those of
/// `statsmodels.stats.multitest.multipletests` under the same names, and equal to them to 1e-12.
enum class correction_method : std::uint8_t {
    none,
    bonferroni,
    sidak,
    holm_sidak,
    holm,            ///< Holm 1979, Scand. J. Statist. 6:65
    simes_hochberg,  ///< Hochberg 1988, Biometrika 75:800
    hommel,          ///< Hommel 1988, Biometrika 75:383; takes the square of the listed p-values
    benjamini_hochberg,   ///< "fdr_bh": Benjamini and Hochberg 1995, JRSS B 57:289
    benjamini_yekutieli,  ///< "fdr_by": Benjamini and Yekutieli 2001, Ann. Statist. 29:1165
    two_stage_bh,         ///< "fdr_tsbh"
    two_stage_bky,        ///< "fdr_tsbky": Benjamini, Krieger and Yekutieli 2006, Biometrika 93:491
};

template <>
SPIKEWEAVE_API enum_table<correction_method> enum_names<correction_method>();
/// Whether corrected p-values hold for one alpha only.
SPIKEWEAVE_API bool is_two_stage(correction_method method);

/// Corrects p-values for `tests` >= p.size() hypotheses; those without a p-value count as p = 1.
/// @throws invalid_argument if there are fewer tests than p-values, if a p-value is not a
/// probability, or for a two-stage correction, which needs an alpha.
SPIKEWEAVE_API std::vector<double> adjust_p_values(std::span<const double> p, std::uint64_t tests,
                                                   correction_method method);

/// Corrected p-values, with the decisions at one alpha.
struct correction_result {
    std::vector<double> q;  ///< corrected p-values
    /// Whether each hypothesis is rejected. This is decided from p, as in statsmodels; very close
    /// to alpha it can differ from q <= alpha, by rounding in the last bit.
    std::vector<bool> rejected;
};
/// Corrects p-values like `adjust_p_values`, and decides at `alpha` in (0, 1].
/// @throws invalid_argument like `adjust_p_values`, or if alpha is out of range.
SPIKEWEAVE_API correction_result correct_tests(std::span<const double> p, std::uint64_t tests,
                                               correction_method method, double alpha);

}  // namespace spikeweave
