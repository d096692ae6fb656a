#include <gtest/gtest.h>
#include <zlib.h>

#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

const named_spikes three{{0, "a"}, {12'345, "b"}, {1'500'000, "a"}};

TEST(TextFiles, AreReadInEveryLayoutThatPeopleWrite) {
    const temporary_folder folder;
    const std::vector<std::string> same{
        "time_s\tunit\n0\ta\n0.012345\tb\n1.5\ta\n",
        "unit,time\na,0\nb,0.012345\na,1.5\n",
        "# made by hand\n\n0.000 a\n0.012345 b\n1.500 a\n",
        "a,0.0\nb,0.012345\na,1.5",  // TDMiner, without the last newline
        "Spike Time (ms);Neuron\r\n0;a\r\n12.345;b\r\n1500;a\r\n",
        "t_us  unit_id\n 0  a\n 12345  b \n 1500000  a\n",
        "\"\",\"time\",\"unit\"\n\"1\",0,\"a\"\n\"2\",0.012345,\"b\"\n\"3\",1.5,\"a\"\n",
        "\xEF\xBB\xBFtime_s\tunit\n0\ta\n0.012345\tb\n1.5\ta\n",
        "# time_s unit\n0e0 a\n1.2345e-2 b\n1.500000000000000000e+00 a\n",
        "channel;x;time;unit\n9;9;0;a\n9;9;.012345;b\n9;9;1.5;a\n",
    };
    for (const std::string& text : same) {
        const spike_file file = read_spikes(folder.file("a.txt", text));
        EXPECT_EQ(named(file.spikes), three) << text;
        EXPECT_EQ(file.format, spike_format::text);
    }
}

TEST(TextFiles, AreUnpackedWhenTheyAreGzip) {
    const temporary_folder folder;
    const auto path = folder.path() / "a.tsv.gz";
    gzFile gz = gzopen(path.c_str(), "wb");
    gzputs(gz, "time_s\tunit\n0\ta\n0.012345\tb\n1.5\ta\n");
    gzclose(gz);

    EXPECT_EQ(named(read_spikes(path).spikes), three);

    const std::string whole = read_bytes(path);
    const auto cut = folder.file("cut.tsv.gz", whole.substr(0, whole.size() - 9));
    EXPECT_SAYS(error_of(cut), "cut.tsv.gz': its gzip data are damaged or cut");
}

TEST(TextFiles, RoundNanosecondsToTheNearestMicrosecond) {
    const temporary_folder folder;
    const named_spikes expected{{0, "a"}, {2, "a"}, {12'346, "a"}, {1'700'000'000'000'000, "a"}};
    const std::string rows = "500 a\n1500 a\n12345678.9012345678 a\n1700000000000000123 a\n";
    for (const char* unit : {"ns", "nanoseconds"})
        EXPECT_EQ(
            named(read_spikes(folder.file("a", "time_" + std::string(unit) + " unit\n" + rows))
                      .spikes),
            expected);
    EXPECT_EQ(
        named(read_spikes(folder.file("b", "time unit\n" + rows), {.time_unit = "ns"}).spikes),
        expected);
    EXPECT_SAYS(error_of(folder.file("c", "time_ns unit\n9e30 a\n")), "a time in nanoseconds");
    EXPECT_SAYS(error_of(folder.file("d", "time_fs unit\n1 a\n")), "expected");
}

TEST(TextFiles, TellTheTimeColumnByItsFractionsThenByItsOrder) {
    const temporary_folder folder;
    const named_spikes expected{{500'000, "2"}, {1'000'000, "1"}};
    EXPECT_EQ(named(read_spikes(folder.file("a", "0.5 2\n1.0 1\n")).spikes), expected);
    EXPECT_EQ(named(read_spikes(folder.file("b", "2 0.5\n1 1.0\n")).spikes), expected);
    const spike_read_options ms{.time_unit = "ms"};
    EXPECT_EQ(named(read_spikes(folder.file("c", "2 500\n1 1000\n"), ms).spikes), expected);
    EXPECT_SAYS(error_of(folder.file("d", "1 2\n")), "does not show which column is the time");
    EXPECT_SAYS(error_of(folder.file("t", "1\t2\n")), "a header such as 'time_s<TAB>unit'");
}

TEST(TextFiles, AreNamedWhereTheNameOfASilentUnitIsNone) {
    const temporary_folder folder;
    EXPECT_SAYS(error_of(folder.file("silent", "# unit_without_spikes: a\tb\n0.5 a\n0.6 b\n")),
                "silent', a comment '# unit_without_spikes: NAME': found 'a\\x09b'");
}

TEST(TextFiles, NameUnitsThatAreWholeRealsByTheInteger) {
    const temporary_folder folder;
    const auto path = folder.file("a", "2.5e-01 3.000000000000000000e+00\n5.0e-01 1.0\n");
    EXPECT_EQ(named(read_spikes(path).spikes), (named_spikes{{250'000, "3"}, {500'000, "1"}}));
}

TEST(TextFiles, RoundTimesToTheNearestMicrosecondTiesToEven) {
    const temporary_folder folder;
    const auto path =
        folder.file("a",
                    "time_s,unit\n0.0000005,a\n0.0000015,b\n0.00000250000000000001,c\n"
                    "123456789.12345649999999999999999,d\n");
    EXPECT_EQ(named(read_spikes(path).spikes),
              (named_spikes{{0, "a"}, {2, "b"}, {3, "c"}, {123'456'789'123'456, "d"}}));
}

TEST(TextFiles, TakeTheUnitOfTimeFromTheCallerFirst) {
    const temporary_folder folder;
    const auto path = folder.file("a", "time_s unit\n30001 a\n60000 b\n");
    const spike_file file = read_spikes(path, {.time_unit = "samples:30000"});
    EXPECT_EQ(named(file.spikes), (named_spikes{{1'000'033, "a"}, {2'000'000, "b"}}));
    EXPECT_THROW(read_spikes(path, {.time_unit = "hours"}), invalid_argument);
    EXPECT_SAYS(error_of(folder.file("b", "time_samples unit\n5 a\n")), "samples:RATE");
    EXPECT_SAYS(error_of(folder.file("c", "t_s,unit\n1.5,a\n"), {.time_unit = "samples:30000"}),
                "line 2: found '1.5', expected a time in samples at 30000 Hz");
}

TEST(TextFiles, AreSortedAndCountedWhereTheyAreNot) {
    const temporary_folder folder;
    const spike_file file = read_spikes(folder.file("a", "0.5 a\n0.25 a\n0.5 a\n0.5 b\n"));
    EXPECT_EQ(named(file.spikes), (named_spikes{{250'000, "a"}, {500'000, "a"}, {500'000, "b"}}));
    EXPECT_EQ(file.out_of_order, 1U);
    EXPECT_EQ(file.duplicates, 1U);
}

TEST(TextFiles, MayHoldOneSpikeButNotNone) {
    const temporary_folder folder;
    EXPECT_EQ(read_spikes(folder.file("a", "0.5 a")).spikes.size(), 1U);
    EXPECT_SAYS(error_of(folder.file("b", "")), "b': holds no spikes");
    EXPECT_SAYS(error_of(folder.file("c", "# nothing\n\n")), "holds no spikes");
    EXPECT_SAYS(error_of(folder.file("d", "time_s\tunit\n")), "holds no spikes");
    const auto silent = folder.file("e", "# span_s: 0 60\ntime_s\tunit\n");
    EXPECT_EQ(read_spikes(silent).spikes.span(), (time_span{duration{0}, duration{60'000'000}}));
}

TEST(TextFiles, KeepSpikesOutsideOfTheStatedSpanAndSaySo) {
    const temporary_folder folder;
    const spike_file file = read_spikes(folder.file("a", "# span_s: 0 1\n0.5 a\n1 a\n5 b\n"));
    EXPECT_EQ(file.spikes.span(), (time_span{duration{0}, duration{5'000'000}}));
    ASSERT_EQ(file.warnings.size(), 1U);
    EXPECT_EQ(file.warnings[0],
              "1 of 3 spikes lie outside of 0 ms to 1 s, the recorded span that the file states; 0 "
              "ms to 5 s is used instead.");
    EXPECT_TRUE(read_spikes(folder.file("b", "# span_s: 0 1\n0 a\n1 a\n")).warnings.empty());
}

TEST(TextFiles, SayTheLineAndWhatIsWrongWithIt) {
    const temporary_folder folder;
    const std::string head = "time_s unit\n0.5 a\n";
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"nan a\n", "line 3: found 'nan', expected a time in seconds"},
        {"inf a\n", "line 3: found 'inf', expected a time in seconds"},
        {"-0.5 a\n",
         "line 3: found the time '-0.5' before zero, expected none (recordings aligned to an event "
         "have them: `allow_negative`)"},
        {"0.5x a\n", "line 3: found '0.5x', expected a time"},
        {"1e30 a\n", "line 3: found '1e30', expected a time in seconds of at most 2305843009213 s"},
        {"0.7\n", "line 3: found 1 columns in '0.7', expected 2"},
        {"0.7 a b\n", "line 3: found 3 columns"},
        {"0.7 \xff\xfe\n", "line 3: found '\\xff\\xfe', expected the name of a unit in UTF-8"},
        {"0,7 a\n", "line 3: found '0,7', expected a time in seconds with a point, not a comma"},
    };
    for (const auto& [line, message] : wrong)
        EXPECT_SAYS(error_of(folder.file("a.txt", head + line)), "a.txt', " + message);
    EXPECT_SAYS(error_of(folder.file("b", "time_s,unit\n0.5,\n")), "expected the name of a unit");
    EXPECT_SAYS(error_of(folder.file("c", "foo bar\n0.5 a\n")), "line 1: found 'foo bar'");
    EXPECT_SAYS(error_of(folder.file("comma", "0,5;a\n0,7;a\n")),
                "line 1: found '0,5;a', expected a spike or a header that names a time and a unit, "
                "such as 'time_s unit'; a time has a point, not a comma");
    EXPECT_SAYS(error_of(folder.file("d", "1 2 3\n")), "found 3 columns");
    EXPECT_SAYS(error_of(folder.file("e", "time_h unit\n1 a\n")), "found 'time_h unit'");
}

TEST(TextFiles, DoNotTakeAnotherColumnForTheTimeBecauseOfOneDamagedLine) {
    const temporary_folder folder;
    EXPECT_SAYS(error_of(folder.file("a", "0.25 1\nabc 2\n0.75 1\n")), "line 2: found 'abc'");
}

TEST(TextFiles, RefuseALineThatNeverEnds) {
    const temporary_folder folder;
    const std::string endless(3U << 20, '7');
    EXPECT_SAYS(error_of(folder.file("a", "time_s unit\n0.5 a\n" + endless)),
                "line 3: is longer than 1048576 bytes");
    EXPECT_SAYS(error_of(folder.file("b", endless)), "line 1: is longer than");
}

TEST(TextFiles, AllowNegativeTimesWhenAsked) {
    const temporary_folder folder;
    const auto path = folder.file("a", "time_s unit\n-0.0000015 a\n");
    EXPECT_EQ(named(read_spikes(path, {.allow_negative = true}).spikes), (named_spikes{{-2, "a"}}));
}

TEST(TextFiles, KeepLineNumbersAcrossBlocks) {
    const temporary_folder folder;
    std::string text;
    for (int i = 0; i < 300'000; ++i) text += "0.000" + std::to_string(100'000 + i) + " n1\n";
    const std::string message = error_of(folder.file("a", text + "oops n1\n"));
    EXPECT_SAYS(message, "line 300001: found 'oops'");
}

TEST(WagenaarFiles, KeepTheStimulusApart) {
    const temporary_folder folder;
    const std::string text = "0.06012 56\n0.06160 60\n0.15328 12\n";
    const spike_file file = read_spikes(folder.file("1-2-3.spk.txt", text));
    EXPECT_EQ(file.format, spike_format::wagenaar);
    EXPECT_EQ(named(file.spikes), (named_spikes{{60'120, "56"}, {153'280, "12"}}));
    EXPECT_EQ(file.stimulus_us, std::vector<std::int64_t>{61'600});
    EXPECT_SAYS(error_of(folder.file("b.spk.txt", "0.1 61\n")),
                "line 1: found channel '61', expected 0 to 60");
}

TEST(KlustakwikFiles, TakeTheSampleRateFromTheXmlOrTheCaller) {
    const temporary_folder folder;
    const auto res = folder.file("a.res.2", "20\n40\n60\n");
    const auto clu = folder.file("a.clu.2", "3\n0\n1\n5\n");
    EXPECT_SAYS(error_of(res), "a.xml': is not beside the spikes");
    const spike_file told = read_spikes(res, {.time_unit = "samples:10000"});
    EXPECT_EQ(named(told.spikes), (named_spikes{{2'000, "0"}, {4'000, "1"}, {6'000, "5"}}));

    folder.file("a.xml", "<parameters>\n<samplingRate>20000</samplingRate>\n</parameters>");
    const spike_file file = read_spikes(clu);
    EXPECT_EQ(file.format, spike_format::klustakwik);
    EXPECT_EQ(named(file.spikes), (named_spikes{{1'000, "0"}, {2'000, "1"}, {3'000, "5"}}));
    ASSERT_EQ(file.warnings.size(), 1U);
    EXPECT_SAYS(file.warnings[0], "2 of 3 spikes are of clusters 0 (artefacts) and 1 (noise)");

    folder.file("a.clu.2", "3\n0\n1\n");
    EXPECT_SAYS(error_of(res), "a.clu.2': ends after 2 clusters");
    folder.file("a.clu.2", "3\n0\n1\n2\n2\n");
    EXPECT_SAYS(error_of(res), "a.clu.2', line 5: continues after 3 spikes");
    folder.file("a.clu.2", "3\n0\nx\n2\n");
    EXPECT_SAYS(error_of(res), "a.clu.2', line 3: found 'x', expected a whole number");
}

TEST(TextFiles, RefuseWhatTheySayTwice) {
    const temporary_folder folder;
    EXPECT_SAYS(error_of(folder.file("a", "# span_s: 0 1\n# span_s: 0 2\ntime_s unit\n1 a\n")),
                "found the comment ' span_s: 0 2' after another with other times");
    EXPECT_SAYS(error_of(folder.file("b", "time_s\ttime_s\tunit\n1\t2\ta\n")),
                "b', line 1: names the column 'time_s' twice");
    EXPECT_SAYS(error_of(folder.file("c", "time_s,unit,unit\n1,a,b\n")), "the column 'unit' twice");
    EXPECT_EQ(read_spikes(folder.file("d", "time_s,x,x,unit\n1,2,3,a\n")).spikes.size(), 1U);
}

TEST(TextFiles, TakeTwoQuotesWithinQuotesForOne) {
    const temporary_folder folder;
    const auto names = [&](const std::string& field) {
        return read_spikes(folder.file("a", "time_s,unit\n1," + field + "\n")).spikes.unit_names();
    };
    using one = std::vector<std::string>;
    EXPECT_EQ(names("\"a\"\"b\""), one{"a\"b"});
    EXPECT_EQ(names("\"\"\"a\"\"\""), one{"\"a\""});
    EXPECT_EQ(names("\"a\""), one{"a"});
    EXPECT_EQ(names("a\"\"b"), one{"a\"\"b"});
}

// A terminal would interpret each of these.
TEST(TextFiles, RefuseNamesThatDoNotPrint) {
    const temporary_folder folder;
    for (const char* name : {"a\x1b[31m", "a\x7f",
                             "a\xc2\x9b"
                             "31m",
                             "a\xc2\x85",
                             "\xe2\x80\xae"
                             "a",
                             "a\xe2\x81\xa6", "a\xe2\x80\xa8", "\xef\xbf\xbe", "\xf0\x9f\xbf\xbf"})
        EXPECT_SAYS(error_of(folder.file("a", std::string("time_s\tunit\n1\t") + name + "\n")),
                    "expected the name of a unit in UTF-8");
    const std::string fine = "µ é\xc2\xa0→ \xf0\x9f\xa7\xa0 \xef\xbf\xbd";
    EXPECT_EQ(read_spikes(folder.file("a", "time_s\tunit\n1\t" + fine + "\n")).spikes.unit_names(),
              std::vector<std::string>{fine});
    // Messages escape these characters.
    EXPECT_SAYS(error_of(folder.file("a", "time_s\tunit\n1\ta\xc2\x9b\n")), "'a\\xc2\\x9b'");
}

TEST(SpikeFormats, HaveNamesThatAreFoundAgain) {
    EXPECT_EQ(value_named<spike_format>("nwb"), spike_format::nwb);
    EXPECT_EQ(to_string(spike_format::automatic), "auto");
    EXPECT_THROW(value_named<spike_format>("xls"), invalid_argument);
}

TEST(SpikeFormats, AreRefusedWhenTheyAreNone) {
    const temporary_folder folder;
    EXPECT_SAYS(error_of(folder.path()), "is a folder without params.py");
    folder.file("result.json", "{}");
    EXPECT_SAYS(error_of(folder.path()), "it is a result, which spikeweave report shows");
    EXPECT_SAYS(error_of(folder.path() / "none"), "none': cannot be opened: No such file");
    EXPECT_SAYS(error_of(folder.file("a", std::string("\x7f\x45LF\0\0\0", 7))), "begins with");
}

TEST(SpikeFormats, AreFoundInTheFolderThatWasGivenInPlaceOfThem) {
    const temporary_folder recording;
    recording.file("binary.json", "{}");
    EXPECT_SAYS(error_of(recording.path()), "it is a recording, in which spikeweave sort finds");

    const temporary_folder sorting;
    sorting.file("spikes.npz", "");
    EXPECT_SAYS(error_of(sorting.path()), "give its spikes.npz");
}

}  // namespace
}  // namespace spikeweave
