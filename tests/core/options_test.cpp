#include "spikeweave/core/options.hpp"

#include <gtest/gtest.h>

#include <array>

#include "spikeweave/core/error.hpp"

namespace spikeweave {

enum class filter_shape : std::uint8_t { flat, round };

template <>
enum_table<filter_shape> enum_names<filter_shape>() {
    static constexpr std::array<named_value<filter_shape>, 3> values{
        {{filter_shape::flat, "flat"}, {filter_shape::round, "round"}, {filter_shape::round, "o"}}};
    return {"shape", values};
}

namespace {

using namespace std::chrono_literals;

struct filter_options {
    duration width = 5ms;
    std::uint32_t order = 0;
    std::optional<double> gain{};
    bool smooth = true;
    filter_shape shape = filter_shape::flat;
    std::uint64_t memory = 0;
    std::optional<double> reach_um{};
};

option_list describe(filter_options& options) {
    option_list list;
    list.add("width", options.width, "width of the filter").above(0).at_most(1);
    list.add("order", options.order, "order of the filter").unset_is("as many as fit");
    list.add("gain", options.gain, "gain").above(0).at_most(1).not_with({"order"});
    list.add("smooth", options.smooth, "smooth").off_means("do not smooth");
    list.add("shape", options.shape, "shape of the filter");
    list.add("memory", options.memory, "memory").unset_is("no limit").in_bytes();
    list.add("reach", options.reach_um, "reach").in_micrometres().above(0).at_most(1000);
    return list;
}

std::string refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const invalid_argument& error) {
        return error.what();
    }
    return "";
}

TEST(Options, AreRefusedIfOneThatIsRequiredIsNotSet) {
    filter_options options;
    option_list list = describe(options);
    list.change("order").required();
    EXPECT_EQ(refusal([&] { list.check(); }),
              "`order`: expected a whole number of at least 1, found none");
    EXPECT_EQ(default_of(list.find("order")), "");
    list.find("order").set_text("2");
    EXPECT_EQ(refusal([&] { list.check(); }), "");
}

TEST(Options, AreNotExcludedByOnesThatAreRemoved) {
    filter_options options{.order = 1, .gain = 0.5};
    option_list list = describe(options);
    list.change("width").only_with("order");
    EXPECT_NE(refusal([&] { list.check(); }), "");
    list.remove("order");
    EXPECT_FALSE(list.has("order"));
    EXPECT_EQ(list.find("width").needs, "");
    EXPECT_EQ(refusal([&] { list.check(); }), "");
}

TEST(Options, RememberWhereOthersAreNow) {
    filter_options options;
    option_list part = describe(options);
    part.add_moved({"length", "height"}, "spikeweave measure FILE does this");
    option_list whole;
    whole.add_all(part);
    ASSERT_EQ(whole.moved().size(), 2U);
    EXPECT_EQ(whole.moved().back().name, "height");
    EXPECT_EQ(whole.moved().back().instead, "spikeweave measure FILE does this");
    EXPECT_FALSE(whole.has("height"));
}

TEST(Options, AreReadFromTextAndChecked) {
    filter_options options;
    const option_list list = describe(options);
    list.find("width").set_text("20ms");
    list.find("order").set_text("3");
    list.find("shape").set_text("o");
    list.find("memory").set_text("2kB");
    list.find("reach").set_text("0.4mm");
    EXPECT_EQ(options.width, 20ms);
    EXPECT_EQ(options.order, 3U);
    EXPECT_EQ(options.shape, filter_shape::round);
    EXPECT_EQ(options.memory, 2000U);
    EXPECT_EQ(options.reach_um, 400);
    const auto set = [&](const char* name, const char* text) {
        return refusal([&] { list.find(name).set_text(text); });
    };
    EXPECT_EQ(set("width", "2s"), "`width`: '2s' is not a time above 0 ms and at most 1 s");
    EXPECT_EQ(set("order", "0"), "`order`: '0' is not a whole number of at least 1");
    EXPECT_EQ(set("order", "-1"), "`order`: '-1' is not a whole number of at least 1");
    EXPECT_EQ(
        set("order", "20ms"),
        "`order`: '20ms' is not a whole number of at least 1 (expected a number without a unit)");
    EXPECT_EQ(
        set("gain", "5%"),
        "`gain`: '5%' is not a number above 0 and at most 1 (expected a number without a unit)");
    EXPECT_EQ(set("gain", "nan"), "`gain`: 'nan' is not a number above 0 and at most 1");
    EXPECT_EQ(set("reach", "2 mm"),
              "`reach`: '2 mm' is not a length above 0 um and at most 1000 um");
    EXPECT_EQ(set("reach", "20"),
              "`reach`: '20' is not a length (expected a number with its unit, such as 20um or "
              "0.4mm)");
    EXPECT_EQ(set("shape", "square"), "`shape`: expected one of flat, round, found 'square'");
    EXPECT_EQ(set("shape", "rounds"),
              "`shape`: expected one of flat, round, found 'rounds'; did you mean round?");
    EXPECT_EQ(options.width, 20ms);
    list.check();
}

TEST(Options, AreCheckedWhereTheyStand) {
    const auto checked = [](const filter_options& options) {
        return refusal([&] { check_options(options); });
    };
    EXPECT_EQ(checked({}), "");
    EXPECT_EQ(checked({.width = 0ms}),
              "`width`: expected a time above 0 ms and at most 1 s, found 0 ms");
    EXPECT_EQ(checked({.gain = 2}), "`gain`: expected a number above 0 and at most 1, found 2");
    EXPECT_EQ(checked({.reach_um = 2000}),
              "`reach`: expected a length above 0 um and at most 1000 um, found 2000 um");
    EXPECT_EQ(checked({.order = 1, .gain = 0.5}), "`gain`: cannot be given together with `order`");
    try {
        check_options(filter_options{.gain = 2});
        FAIL();
    } catch (const invalid_argument& error) {
        EXPECT_EQ(error.field(), "gain");
    }
}

TEST(Options, AreTheParametersOfARun) {
    filter_options options{.order = 2, .smooth = false};
    const parameter_list expected{
        {"width", "5 ms"}, {"order", std::uint64_t{2}}, {"gain", nullptr}, {"smooth", false},
        {"shape", "flat"}, {"memory", nullptr},         {"reach", nullptr}};
    EXPECT_EQ(parameters_of(describe(options)), expected);
}

TEST(Options, AreSetToTheParametersOfARun) {
    filter_options given{.width = 12500us,
                         .gain = 0.5,
                         .smooth = false,
                         .shape = filter_shape::round,
                         .memory = 2000,
                         .reach_um = 12.5};
    filter_options taken{.order = 3};
    set_parameters(describe(taken), parameters_of(describe(given)));
    EXPECT_EQ(parameters_of(describe(taken)), parameters_of(describe(given)));
    EXPECT_EQ(taken.width, 12500us);
    EXPECT_EQ(taken.order, 0U);
    EXPECT_EQ(taken.reach_um, 12.5);

    // As in a file, in which whole numbers are written without a point.
    set_parameters(describe(taken), {{"gain", std::uint64_t{1}}});
    EXPECT_EQ(taken.gain, 1);
    EXPECT_THROW(set_parameters(describe(taken), {{"gain", 2.0}}), invalid_argument);
    EXPECT_THROW(set_parameters(describe(taken), {{"colour", 2.0}}), invalid_argument);
}

TEST(Options, CanBeBoundToAnotherField) {
    filter_options options;
    std::optional<filter_shape> shape;
    std::optional<std::uint8_t> order;
    option_list list = describe(options);
    list.change("shape").bind(shape);
    list.change("order").bind(order);
    EXPECT_FALSE(list.find("shape").is_set());
    EXPECT_EQ(list.find("shape").choices, (std::vector<std::string>{"flat", "round"}));
    list.find("shape").set_text("round");
    EXPECT_EQ(shape, filter_shape::round);
    EXPECT_EQ(options.shape, filter_shape::flat);
    EXPECT_EQ(refusal([&] { list.find("order").set_text("256"); }),
              "`order`: '256' is not a whole number of at least 0 and at most 255");
    list.change("order").bind(options.order);
    list.find("order").set_text("0");
    EXPECT_EQ(options.order, 0U) << "the range of the field before must not remain";
    list.remove("order");
    EXPECT_THROW(static_cast<void>(list.find("order")), invalid_argument);
}

TEST(Options, SayTheirDefaults) {
    filter_options options;
    const option_list list = describe(options);
    EXPECT_EQ(default_of(list.find("width")), "5 ms");
    EXPECT_EQ(default_of(list.find("order")), "as many as fit");
    EXPECT_EQ(default_of(list.find("gain")), "");
    EXPECT_EQ(default_of(list.find("shape")), "flat");
}

TEST(Options, MayNameTheirZero) {
    std::uint32_t clusters = 500;
    option_list list;
    option& one = list.add("clusters", clusters, "number").at_least(1).zero_is("auto");
    one.set_text("auto");
    EXPECT_EQ(clusters, 0U);
    list.check();
    EXPECT_EQ(std::get<std::string>(parameters_of(list).front().second), "auto");
    one.set(std::uint64_t{4});
    EXPECT_EQ(clusters, 4U);
    EXPECT_EQ(refusal([&] { one.set_text("0"); }),
              "`clusters`: '0' is not a whole number of at least 1, or auto");
    EXPECT_NE(refusal([&] { one.set(std::uint64_t{0}); }), "");
}

TEST(Options, MayNameTheZeroOfAnyNumber) {
    double speed = 2;
    duration length = 5ms;
    option_list list;
    list.add("speed", speed, "").above(0).zero_is("max").set_text("max");
    list.add("length", length, "").at_least(0).zero_is("growing").set(std::string("growing"));
    EXPECT_EQ(speed, 0);
    EXPECT_EQ(length, 0ms);
    list.check();
    EXPECT_EQ(std::get<std::string>(parameters_of(list).front().second), "max");
    EXPECT_EQ(refusal([&] { list.find("speed").set_text("-1"); }),
              "`speed`: '-1' is not a number above 0, or max");
}

TEST(Options, GiveTheirValueAsItIsGiven) {
    std::uint32_t clusters = 0;
    std::uint32_t most = 0;
    duration length = 5ms;
    option_list list;
    list.add("clusters", clusters, "").zero_is("auto");
    list.add("most", most, "").unset_is("no bound");
    list.add("length", length, "");
    EXPECT_EQ(list.find("clusters").value(), option_value{std::string("auto")});
    EXPECT_EQ(list.find("most").value(), option_value{nullptr});
    EXPECT_EQ(list.find("length").value(), option_value{duration{5ms}});
    clusters = most = 3;
    EXPECT_EQ(list.find("clusters").value(), option_value{std::uint64_t{3}});
    EXPECT_EQ(list.find("most").value(), option_value{std::uint64_t{3}});
}

TEST(Options, MayBePathsAndLists) {
    std::filesystem::path file;
    std::vector<std::uint32_t> numbers;
    option_list list;
    list.add("file", file, "a file");
    list.add("numbers", numbers, "numbers").not_with({"file"});
    EXPECT_FALSE(list.find("file").is_set());
    list.find("numbers").set_text("3,17");
    EXPECT_EQ(numbers, (std::vector<std::uint32_t>{3, 17}));
    EXPECT_NE(refusal([&] { list.find("numbers").set_text("3,x"); }), "");
    list.find("file").set_text("a.npz");
    EXPECT_EQ(refusal([&] { list.check(); }), "`numbers`: cannot be given together with `file`");
}

TEST(Options, MayBeGivenElementByElement) {
    std::vector<std::string> files;
    option_list list;
    list.add("to", files, "files").repeated().obeys([&files] {
        if (files.size() > 2) throw invalid_argument("too many");
    });
    EXPECT_FALSE(list.find("to").is_set());
    list.find("to").set_list({"a,b", "c"});
    EXPECT_EQ(files, (std::vector<std::string>{"a,b", "c"}));
    EXPECT_TRUE(list.find("to").is_set());
    EXPECT_EQ(refusal([&] { list.find("to").set_list({"a", "b", "c"}); }), "`to`: too many");
}

TEST(Options, HaveOneNameInTwoSpellings) {
    EXPECT_EQ(command_line_name("min_count"), "--min-count");
    EXPECT_EQ(command_line_name("splits", true), "--no-splits");
    EXPECT_EQ(with_command_line_names("`min_count` needs `delays`"), "--min-count needs --delays");
    EXPECT_EQ(with_plain_names("`min_count` is not 'a`b'"), "min_count is not 'a`b'");
    EXPECT_EQ(with_command_line_names("`min_count=2` and `dither=4ms`"),
              "--min-count 2 and --dither 4ms");
    EXPECT_EQ(with_plain_names("`min_count=2`, `dither=4ms` or `test=jitter`: 'a`b=c d`'"),
              "min_count=2, dither=\"4ms\" or test=\"jitter\": 'a`b=c d`'");
}

TEST(EnumNames, AreReadWithEitherDash) {
    EXPECT_EQ(names_of<filter_shape>(), (std::vector<std::string>{"flat", "round"}));
    EXPECT_EQ(to_string(value_named<filter_shape>("o")), "round");
    EXPECT_THROW(static_cast<void>(value_named<filter_shape>("")), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
