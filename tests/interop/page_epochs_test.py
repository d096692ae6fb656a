"""The pages of results of episodes in epochs, a part of which was held out, and in another recording, in Chromium.

Usage: page_epochs_test.py SPIKEWEAVE. Exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import unittest

from browser import By, PageCase, np, rows_of, spikeweave
from page_data import numbers


class EpochsPage(PageCase):
    """Trials that touch, of which every second one was held out."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spikeweave("simulate", "sym26", "--length", "60s", "--seed", "1", "-o", cls.folder / "sym26.tsv")
        spikeweave("episodes", cls.folder / "sym26.tsv", "--trial-length", "40ms", "--max-size", "3", "--hold-out", "0.5", "-o", cls.out)
        cls.read_page()

    def test_shows_itself_without_errors_and_requests(self):
        self.assert_quiet()

    def test_occurrences_do_not_reach_from_one_epoch_into_the_next(self):
        table = rows_of(self.out / "episodes.tsv")
        self.assertGreater(len(table), 10)
        counts = self.driver.execute_script("""
            return [...document.querySelectorAll('#episodes tbody tr')].map((row) => {
              row.querySelector('button').click();
              return [row.dataset.number, document.getElementById('occurrence-count').textContent.split(' ')[0].replaceAll(',', '')];
            });""")

        self.assertGreater(len(counts), 10)
        for number, count in counts:
            self.assertEqual(count, table[int(number) - 1]["count"])

    def test_counts_spikes_and_occurrences_around_the_epochs(self):
        epochs = np.array(self.data["spikes"]["epochs_us"])
        steps, units = (np.array(numbers(self.data["spikes"][name])) for name in ("steps_us", "units"))
        times = self.data["spikes"]["begin_us"] + np.cumsum(steps)
        longest = (epochs[:, 1] - epochs[:, 0]).max()
        edges = np.linspace(0, longest, 51)
        unit = self.data["unit_names"].index("n3")
        own = times[units == unit]
        epoch = np.searchsorted(epochs[:, 0], own, "right") - 1
        expected = np.histogram(own - epochs[epoch, 0], edges)[0]

        shown = self.driver.execute_script("""
            const choice = document.getElementById("psth-of");
            const counts = () => document.querySelector("#psth-view [data-counts]").dataset.counts.split(" ").map(Number);
            const before = counts().reduce((sum, count) => sum + count, 0);
            choice.value = arguments[0];
            choice.dispatchEvent(new Event("change"));
            return [before, document.getElementById("occurrence-count").textContent.split(" ")[0].replaceAll(",", ""), counts()];""", unit)

        self.assertEqual(str(shown[0]), shown[1])  # occurrences of what is picked
        self.assertEqual(sum(shown[2]), len(own))
        self.assertLessEqual(np.abs(np.cumsum(shown[2]) - np.cumsum(expected)).max(), 2)  # a spike on the edge of a bin

    def test_says_how_long_spikes_were_observed_and_what_was_replicated(self):
        text = self.driver.execute_script("return document.querySelector('.about').textContent")

        epochs = self.data["spikes"]["epochs_us"]
        self.assertIn(f"epochs{len(epochs)}, {sum(end - begin for begin, end in epochs) / 1e6:g} s together", text)
        held = self.data["run"]["hold_out"]
        self.assertGreater(held["replicated"], 0)
        self.assertIn(f"{held['replicated']} of {held['significant']} significant episodes of the search", text)

    def test_has_what_the_search_found_of_the_picked_episode(self):
        self.press("#only-significant")
        row = rows_of(self.out / "episodes.tsv")[0]
        self.press("#episodes tr[data-number='1'] button")
        shown = dict(zip(*([one.text for one in self.driver.find_elements(By.CSS_SELECTOR, f"#further {tag}")] for tag in ("dt", "dd"))))
        for name in ("count", "expected", "p", "q"):
            self.assert_shown(shown[f"search {name}"], row[f"search_{name}"])


class ConditionsPage(PageCase):
    """Trials of three conditions, of which one has no occurrence of a unit's spikes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rows = [(0.5 * i + 0.1 + 0.005 * unit, unit) for i in range(40) for unit in (1, 2) if i % 4 != 3]
        rows += [(0.5 * i + 0.3, 3) for i in range(40)]
        (cls.folder / "s.tsv").write_text("# span_s: 0 20\n" + "".join(f"{time:.6f}\t{unit}\n" for time, unit in sorted(rows)))
        labels = ["10 Hz", "9 Hz", "10 Hz", "<b>none</b>"]
        (cls.folder / "epochs.tsv").write_text("".join(f"{0.5 * i}\t{0.5 * i + 0.4}\t{labels[i % 4]}\n" for i in range(40)))
        spikeweave("episodes", cls.folder / "s.tsv", "--epochs", cls.folder / "epochs.tsv", "--delays", "4-6ms", "--min-count", "5", "-o", cls.out)
        cls.read_page()

    def shown(self, unit):
        return self.driver.execute_script("""
            const choice = document.getElementById("psth-of");
            choice.value = arguments[0];
            choice.dispatchEvent(new Event("change"));
            const ticks = [...document.querySelectorAll("#psth-view .ticks path")].map((path) => path.getAttribute("d").split("M").slice(1));
            return {
              counts: document.querySelector("#psth-view [data-counts]").dataset.counts.split(", ").map((counts) => counts.split(" ").map(Number)),
              marks: ticks.map((marks) => marks.length), rows: ticks.map((marks) => marks.map((mark) => Number(mark.split(/[,v]/)[1]))),
              lines: [...document.querySelectorAll("#psth-view .step")].map((line) => getComputedStyle(line).stroke + getComputedStyle(line).strokeDasharray),
              names: [...document.querySelectorAll("#psth-view .legend .key")].map((key) => key.textContent), note: document.querySelector("#psth-view .legend").textContent,
            };""", unit)

    def test_has_a_curve_and_a_block_of_rows_for_each_condition(self):
        shown = self.shown(0)

        self.assert_quiet()
        self.assertEqual(shown["names"], ["<b>none</b>", "9 Hz", "10 Hz"])
        self.assertIn("<b>none</b> (10 epochs), 9 Hz (10 epochs), 10 Hz (20 epochs)", shown["note"])
        self.assertEqual([sum(counts) for counts in shown["counts"]], [0, 10, 20])
        self.assertEqual([counts[13] for counts in shown["counts"]], [0, 10, 20])  # 105 of 400 ms, in bins of 8 ms
        self.assertEqual(shown["marks"], [0, 10, 20])
        self.assertLess(max(shown["rows"][1]), min(shown["rows"][2]))
        self.assertEqual(len(set(shown["lines"])), 3)
        self.assertEqual(self.shown(2)["marks"], [10, 10, 20])

    def test_nobody_is_left_out(self):
        self.shown(0)
        self.assert_accessible()


class ConfirmingPage(PageCase):
    """A recording that confirms what another one suggests, and lacks one of its units."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for seed in ("1", "2"):
            spikeweave("simulate", "sym26", "--length", "20s", "--seed", seed, "-o", cls.folder / f"sym26-{seed}.tsv")
        other = cls.folder / "sym26-2.tsv"
        other.write_text("".join(line for line in other.read_text().splitlines(keepends=True) if not line.endswith("\tn3\n")))
        spikeweave("episodes", cls.folder / "sym26-1.tsv", "--max-size", "2", "--confirm", other, "-o", cls.out)
        cls.read_page()

    def test_says_what_the_other_recording_confirms_and_what_it_cannot_test(self):
        self.assert_quiet()
        text = self.driver.execute_script("return document.querySelector('.about').textContent")

        told = self.data["run"]["confirm"]
        self.assertGreater(told["replicated"], 0)
        self.assertIn(f"replicated in this recording{told['replicated']} of {told['significant']} significant episodes", text)
        self.assertIn("searched units that are missing here1", text)
        self.assertGreater(told["untested"], 0)
        self.assertIn(f"{told['untested']}, of which {told['untested_significant']} are significant in the search", text)
        self.assertIn("sym26-1.tsv", text)


if __name__ == "__main__":
    unittest.main()
