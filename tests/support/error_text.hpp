#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

/// The message of the exception that a call throws; the test fails if it throws none.
template <class Call>
std::string text_of(const Call& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}
