#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

/// What a call says when it throws; it has to.
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
