#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

/// Values of `points_for_cluster_mask`: the masks of some clusters add up to less, of others to
/// more, and sometimes to exactly this value.
inline const std::vector<double> cluster_masks{1e-100, 10, 40, 1e9};

/// Compares with a tolerance: this fraction of the largest element of `a`.
inline void expect_near(const std::vector<double>& a, const std::vector<double>& b, double part,
                        const char* what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    double scale = 0;
    for (const double x : a) scale = std::max(scale, std::abs(x));
    for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(a[i], b[i], part * std::max(scale, 1e-6)) << what << " " << i;
}
