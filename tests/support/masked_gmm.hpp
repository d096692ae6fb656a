#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

/// `points_for_cluster_mask`: clusters' masks add up to less than it here, to more there, and
/// sometimes to just as much.
inline const std::vector<double> cluster_masks{1e-100, 10, 40, 1e9};

/// Within this part of the largest of `a`.
inline void expect_near(const std::vector<double>& a, const std::vector<double>& b, double part,
                        const char* what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    double scale = 0;
    for (const double x : a) scale = std::max(scale, std::abs(x));
    for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(a[i], b[i], part * std::max(scale, 1e-6)) << what << " " << i;
}
