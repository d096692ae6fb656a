#include "live/dashboard/access.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

std::string random_secret() {
    std::array<unsigned char, 16> bytes{};
    if (::getentropy(bytes.data(), bytes.size()) != 0)
        throw io_error("the system has no random numbers for the token of the dashboard");
    return fmt::format("{:02x}", fmt::join(bytes, ""));
}

// How long it takes does not tell how much of a guess was right.
bool is_secret(std::string_view guess, std::string_view secret) {
    if (guess.size() != secret.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < secret.size(); ++i)
        difference |= static_cast<unsigned char>(guess[i]) ^ static_cast<unsigned char>(secret[i]);
    return difference == 0;
}

std::string cookie_name(std::uint16_t port) {
    return fmt::format("spikeweave-{}", port);
}

}  // namespace

dashboard_access::dashboard_access() : token_(random_secret()), cookie_(random_secret()) {}

bool dashboard_access::has_token(std::string_view target) const {
    constexpr std::string_view before = "/?token=";
    return target.starts_with(before) && is_secret(target.substr(before.size()), token_);
}

bool dashboard_access::has_cookie(std::string_view cookies, std::uint16_t port) const {
    const std::string name = cookie_name(port) + "=";
    while (!cookies.empty()) {
        const std::size_t end = cookies.find(';');
        std::string_view one = cookies.substr(0, end);
        one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
        if (one.starts_with(name) && is_secret(one.substr(name.size()), cookie_)) return true;
        if (end == std::string_view::npos) break;
        cookies.remove_prefix(end + 1);
    }
    return false;
}

std::string dashboard_access::cookie_header(std::uint16_t port) const {
    return fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_name(port), cookie_);
}

}  // namespace spikeweave::live
