"""Every view of every kind of page in Chromium, beside a kept picture of it.

Usage: page_pictures_test.py SPIKEWEAVE [--update]. Exits with 77, which CTest shows as skipped, without Chromium and its
packages. The data of the pages are kept as well, so that only a change of the page changes a picture. `--update` makes
data and pictures again: look at them.
"""

import gzip
import io
import json
import unittest

from browser import KEPT, LONG_WARNING, MOST_MEAN, MOST_OF_A_BLOCK, UPDATE, PageCase, difference, spikeweave
from page_data import data_of, with_data
from PIL import Image

EPISODES = ("raster", "aligned", "circuit", "correlogram", "episodes", "edges", "counts")
VIEWS = {
    "episodes": EPISODES,
    "epochs": (*EPISODES, "psth"),
    "session": ("session", "detections", "changes", "episodes", "arming", "losses"),
    "windows": ("windows", "changes", "episodes"),
    "spade": ("raster", "aligned", "patterns", "counts", "spectrum", "funnel"),
    "sort": ("units", "raster", "shapes", "correlograms", "similar", "amplitudes", "depths", "merges"),
    "series": ("series", "changes", "episodes"),
    "comparison": ("circuits", "episodes", "changes"),
    "spade-comparison": ("raster", "patterns", "counts", "changes"),
    "sort-comparison": ("units", "agreement", "pair", "raster"),
    "replay": ("raster", "scores", "scales", "events", "counts"),
    "assemblies": ("raster", "aligned", "assemblies", "counts", "search"),
    "bursts": ("raster", "aligned", "units", "network", "histograms", "counts"),
    "bursts-comparison": ("figures", "recordings"),
    "track": ("neurons", "waveforms", "depths", "matches", "sessions"),
    "compare": ("differences", "findings", "finding"),
    "run": ("steps",),
}


# The data and the kind of page, of those that are not called by both.
SHOWN = {"epochs": ("epochs", "episodes"), "comparison": ("series", "comparison")}


class Pictures(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        chains = []
        for name, probability, seed in (("first", "0.8", "1"), ("second", "0.4", "2")):
            path = cls.folder / f"{name}.tsv"
            spikeweave("simulate", "sym26", "--length", "12s", "--probability", probability, "--seed", seed, "-o", path)
            spikeweave("episodes", path, "--delays", "4-6ms,8-12ms", "--min-count", "60", "--max-size", "4", "-o", cls.folder / name)
            chains.append(cls.folder / name)
        cls.out = chains[0]
        cls.read_page()
        if UPDATE:
            cls.keep_data(chains)

    @classmethod
    def keep_data(cls, chains):
        spikeweave("simulate", "patterns", "--units", "20", "--rate", "8", "--patterns", "5,3", "--occurrences", "15", "--seed", "1", "-o", cls.folder / "hidden.tsv")
        spikeweave("spade", cls.folder / "hidden.tsv", "--surrogates", "50", "--alpha", "0.05", "--seed", "1", "-o", cls.folder / "spade")
        spikeweave("simulate", "recording", "--units", "4", "--channels", "12", "--length", "15s", "--low-peak", "100", "--drift", "20um", "--drift-shape", "zigzag",
                   "--drift-period", "10s", "--dead-time", "0ms", "--seed", "3", "-o", cls.folder / "recording")
        spikeweave("sort", cls.folder / "recording", "-o", cls.folder / "sort")
        spikeweave("simulate", "patterns", "--units", "20", "--rate", "8", "--patterns", "5", "--occurrences", "6", "--seed", "1", "-o", cls.folder / "fewer.tsv")
        spikeweave("spade", cls.folder / "fewer.tsv", "--surrogates", "50", "--alpha", "0.05", "--seed", "1", "-o", cls.folder / "fewer")
        spikeweave("sort", cls.folder / "recording", "--stages", "cluster", "-o", cls.folder / "clusters")
        spikeweave("replay", chains[0], cls.folder / "second.tsv", "--seed", "1", "-o", cls.folder / "replay")
        spikeweave("assemblies", cls.folder / "hidden.tsv", "-o", cls.folder / "assemblies")
        spikeweave("simulate", "culture", "--channels", "12", "--length", "60s", "--seed", "1", "-o", cls.folder / "culture.tsv")
        spikeweave("bursts", cls.folder / "culture.tsv", "-o", cls.folder / "bursts")
        spikeweave("simulate", "culture", "--channels", "12", "--length", "60s", "--burst-every", "2s", "--seed", "2", "-o", cls.folder / "later.tsv")
        spikeweave("bursts", cls.folder / "later.tsv", "-o", cls.folder / "later")
        for number in (1, 2):
            made = ("--channels", "16", "--units", "6", "--length", "10s", "--seed", "4", "--session", number)
            spikeweave("simulate", "recording", *made, "-o", cls.folder / f"session{number}")
            spikeweave("sort", cls.folder / f"session{number}", "-o", cls.folder / f"sorted{number}")
        spikeweave("track", cls.folder / "sorted1", cls.folder / "sorted2", "-o", cls.folder / "track")
        spikeweave("compare", cls.folder / "first.tsv", cls.folder / "second.tsv", "--delays", "4-6ms", "--max-size", "2", "--min-count", "60", "--block", "2s", "--seed", "1",
                   "-o", cls.folder / "compare")
        for kind, folders in (("series", (*chains, "--as", "series")), ("spade-comparison", (cls.folder / "spade", cls.folder / "fewer")),
                              ("sort-comparison", (cls.folder / "sort", cls.folder / "clusters")), ("bursts-comparison", (cls.folder / "bursts", cls.folder / "later"))):
            (cls.folder / kind).mkdir()
            spikeweave("report", *folders, "-o", cls.folder / kind / "report.html")
        search = ("--delays", "4-6ms", "--min-count", "60", "--max-size", "4")
        (cls.folder / "epochs.tsv").write_text("".join(f"{begin}\t{begin + 0.4}\t{('left', 'right')[begin % 2]}\n" for begin in range(12)), encoding="utf-8")
        spikeweave("episodes", cls.folder / "first.tsv", *search, "--epochs", cls.folder / "epochs.tsv", "-o", cls.folder / "epochs")
        windows = (*search[:3], "20", "--window", "4s", "--hop", "2s")
        spikeweave("windows", cls.folder / "first.tsv", *windows, "-o", cls.folder / "windows")
        spikeweave("live", cls.folder / "first.tsv", "--speed", "max", "--episodes", chains[0], "--hold-off", "1s", *windows, "--record", cls.folder / "live.session")
        (cls.folder / "session").mkdir()
        spikeweave("report", cls.folder / "live.session", "-o", cls.folder / "session/report.html")
        spikeweave("run", cls.folder / "first.tsv", "-o", cls.folder / "run")
        (cls.folder / "run/index.html").rename(cls.folder / "run/report.html")
        for kind in ("episodes", "epochs", "session", "windows", "spade", "sort", "series", "spade-comparison", "sort-comparison", "replay", "assemblies", "bursts", "bursts-comparison",
                     "track", "compare", "run"):
            page = (cls.folder / ("first" if kind == "episodes" else kind) / "report.html").read_text(encoding="utf-8")
            with gzip.GzipFile(KEPT / f"{kind}.json.gz", "wb", mtime=0) as file:
                file.write(json.dumps(data_of(page)).encode())

    def show(self, kind, width=1280, height=7000, warnings=None):  # by default all views are within the window
        kept, shown = SHOWN.get(kind, (kind, kind))
        data = json.loads(gzip.decompress((KEPT / f"{kept}.json.gz").read_bytes())) | {"kind": shown}
        if warnings is not None:
            data["run"]["input"] = data["run"].get("input", {}) | {"warnings": warnings}
        page = self.folder / f"kept-{kind}.html"
        page.write_text(with_data(self.html, data), encoding="utf-8")
        self.resize(width, height)
        self.open(page)
        self.settle()
        self.assertEqual(self.driver.get_log("browser"), [])

    def test_every_view_looks_as_it_did(self):
        for kind, views in VIEWS.items():
            self.show(kind)
            shown = [one.get_attribute("id") for one in self.driver.find_elements("css selector", "main section[id]")]
            self.assertEqual(shown, [*views, "about"])
            for view in views:
                with self.subTest(f"{kind}-{view}"):
                    self.assert_looks_as_kept(view, f"{kind}-{view}")

    def assert_first_screen_looks_as_kept(self, kind, width, look):
        self.show(kind, width, 900)
        with self.subTest(f"{kind}-{look}"):
            self.assertLessEqual(self.driver.execute_script("return document.documentElement.scrollWidth"), width)
            self.driver.execute_script("document.documentElement.style.overflow = 'hidden'; document.body.style.height = '900px'; document.body.style.overflow = 'hidden'; document.body.id = 'screen'")
            self.assert_looks_as_kept("screen", f"{kind}-{look}")

    def test_every_page_fits_a_phone_in_the_dark(self):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        for kind in VIEWS:
            self.assert_first_screen_looks_as_kept(kind, 420, "phone-dark")

    def test_tables_can_be_read_on_a_phone(self):
        """Headings have two lines at most, with an axis three, and what names a row stays while the row is scrolled."""
        faults = """
            return [...document.querySelectorAll("main table")].flatMap((table) => {
              const frame = table.parentElement;
              const lines = Math.max(...[...table.tHead.rows[0].cells].map((head) => head.getBoundingClientRect().height)) / 19;
              frame.scrollLeft = frame.scrollWidth;
              const hidden = [...table.querySelectorAll("tr > :first-child")].filter((cell) => cell.getBoundingClientRect().left < frame.getBoundingClientRect().left);
              return lines > (table.querySelector("svg.forest") ? 3.5 : 2.5) || hidden.length ? [`${table.caption.textContent}: ${lines} lines, ${hidden.length} hidden`] : [];
            })"""
        for kind in VIEWS:
            self.show(kind, 420)
            with self.subTest(kind):
                self.assertEqual(self.driver.execute_script(faults), [])

    def test_every_page_begins_on_a_wide_screen_as_it_did(self):
        for kind in VIEWS:
            self.assert_first_screen_looks_as_kept(kind, 1400, "wide")

    def test_linked_views_are_on_one_screen(self):
        """Also below a long warning, and at sizes at which their letters can be read."""
        linked = """
            return [...document.querySelectorAll(".linked section, .linked .two")].map((part) => {
              const letters = [...part.querySelectorAll("svg text")].filter((text) => !text.closest(".scroll"))
                .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d).filter((size) => size > 0);
              return [part.id, part.getBoundingClientRect().bottom, Math.min(...letters, 99)];
            })"""
        seen = set()
        for kind in VIEWS:
            for warnings in ([], [LONG_WARNING]):
                self.show(kind, 1400, 900, warnings)
                for view, bottom, letters in self.driver.execute_script(linked):
                    with self.subTest(f"{kind}-{view}", warnings=len(warnings)):
                        self.assertLessEqual(bottom, 902)
                        self.assertGreater(letters, 7)
                    seen.add(kind)
        self.assertEqual(set(VIEWS) - seen, {"comparison", "sort-comparison", "bursts-comparison", "track", "run"})

    def long_figures(self):
        """Figures with more than four digits, except whole ones with commas, times in seconds, commands and citations."""
        return self.driver.execute_script(r"""
            const others = [...document.querySelectorAll("pre, bdi, #about li")];
            const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
            const found = [];
            for (let node; (node = walk.nextNode());) {
              if (others.some((one) => one.contains(node))) continue;
              for (const [text] of node.data.matchAll(/(?<![\w.,])\d+(,\d{3})*(\.\d+)?(?!\w|[.,]\d| s\b)/g))
                if (text.replace(/^[0.]+|[.,]/g, "").length > 4 && (text.includes(".") || !text.includes(","))) found.push(text);
            }
            return found;""")

    def test_no_figure_has_more_than_four_digits(self):
        for kind in VIEWS:
            self.show(kind)
            with self.subTest(kind):
                self.assertEqual(self.long_figures(), [])
        self.driver.execute_script("document.querySelector('main').append('0.0123456, 12,345 of 12345 and 1.2345 in 1.234567 s')")
        self.assertEqual(self.long_figures(), ["0.0123456", "12345", "1.2345"])

    def test_every_view_can_be_saved(self):
        """Each as a table, and what has a picture also as one."""
        offered = """
            const view = document.getElementById(arguments[0]);
            const buttons = [...view.querySelectorAll("details.save button")].map((one) => one.textContent);
            const hasPicture = [...view.querySelectorAll("svg[role], canvas, img")].some((one) => one.checkVisibility());
            return [buttons, hasPicture];"""
        for kind, views in VIEWS.items():
            self.show(kind)
            self.driver.execute_script("for (const one of document.querySelectorAll('details.save')) one.open = true")
            self.frame()
            for view in views:
                buttons, has_picture = self.driver.execute_script(offered, view)
                with self.subTest(f"{kind}-{view}"):
                    is_empty = (kind, view) == ("session", "losses")
                    self.assertEqual(buttons, [] if is_empty else ["SVG", "PNG", "CSV"] if has_picture else ["CSV"])
        self.show("run")
        (*_, step) = data_of((self.folder / "kept-run.html").read_text(encoding="utf-8"))["steps"]
        self.assertEqual(self.saved("#save-steps-svg", "steps.svg").decode(), step["picture"])
        self.assertGreater(Image.open(io.BytesIO(self.saved("#save-steps-png", "steps.png"))).width, 500)

    def test_what_is_missing_is_seen(self):
        """A picture without what a view draws is not taken for the kept one."""
        self.show("episodes")
        for view, hide in (("circuit", "#circuit g.edge .line"), ("counts", "#counts .bar"), ("raster", "#raster canvas")):
            before = self.grey_picture(view)
            self.driver.execute_script("for (const one of document.querySelectorAll(arguments[0])) one.style.visibility = 'hidden'", hide)
            mean, block = difference(before, self.grey_picture(view))
            self.assertTrue(mean > MOST_MEAN or block > MOST_OF_A_BLOCK, (view, mean, block))


if __name__ == "__main__":
    unittest.main()
