"""Pages in Chromium: what the tests of all kinds of pages share.

Importing this exits with 77, which CTest shows as skipped, without Chromium and its packages.
"""

import base64
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml

try:
    import numpy as np
    from axe_core_python.selenium import Axe
    from PIL import Image
    from selenium import webdriver
    from selenium.webdriver import ActionChains  # noqa: F401
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}; install tests/interop/requirements.txt")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from page_data import data_of, with_data  # noqa: E402

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not BROWSER or not DRIVER:
    print("skipped: there is no chromium or no chromedriver; run script/bootstrap test")
    sys.exit(77)

SPIKEWEAVE = sys.argv.pop(1)
UPDATE = "--update" in sys.argv
if UPDATE:
    sys.argv.remove("--update")
# Pictures are an eighth of the size in grey, because fonts differ between machines.
KEPT, SCALE = pathlib.Path(__file__).parent / "pictures", 8
# Of 255, for pixels that each stand for 64. With a serif font instead, no picture differs by more than 3.3 in the mean and
# 30 in a block; a circuit without its arrows differs by 38 in a block.
MOST_MEAN, MOST_OF_A_BLOCK, BLOCK = 4, 34, 4
LONG_WARNING = "523 of 2,662 tested pairs of units are related within milliseconds, more than a circuit of sparse connections explains. " * 3  # three lines
NASTY = ["<script>window.hit = 1</script>", "<img src=x onerror='window.hit = 1'>", "\"'&]]>", "a\ufffeb", "\u202egnp.exe", "\u05d0\u05d1\u200f", "-"]


def spikeweave(*arguments):
    subprocess.run([SPIKEWEAVE, *map(str, arguments)], check=True, stdout=subprocess.PIPE)


def chromium():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--window-size=1300,1000", "--force-device-scale-factor=1", "--disable-gpu",
                     "--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


EXPONENT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def number_in(cell):
    """Returns the number of a cell; what a double cannot hold is 0 in the tables."""
    if cell == "< 10⁻³⁰⁰":
        return 0.0
    mantissa, _, exponent = cell.replace(",", "").partition("·10")
    return float(f"{mantissa}e{exponent.translate(EXPONENT) or 0}")


def delay_in(interval):
    """Returns a delay of a table as a page shows it."""
    return re.sub(r"\((.+?),(.+?)\]( ms)?", r"\1-\2ms", interval)


EDGE_COLUMNS = ("from", "to", "count", "q", "delay", "sign", "kind", "expected", "gain", "transmission", "p", "best_delay", "via")


def edge_cells(table):
    """Returns the rows of circuit.tsv in the columns of a page."""
    shown = {"delay": delay_in, "best_delay": delay_in, "via": lambda via: via.replace("-", "–")}
    return [[shown.get(name, str)(row[name]) for name in EDGE_COLUMNS] for row in table]


def difference(one, other):
    """Returns the mean difference of two pictures, and the largest mean of a block."""
    size = np.minimum(one.size, other.size)
    apart = np.abs(np.asarray(one.crop((0, 0, *size)), float) - np.asarray(other.crop((0, 0, *size)), float))
    height, width = (BLOCK * (size // BLOCK) for size in apart.shape)
    blocks = apart[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK).mean((1, 3))
    return apart.mean(), blocks.max(initial=0)


def edge_of(row, delay_ms):
    """Whether an edge of a circuit shares half of a delay, or of its own if that is shorter."""
    low, high = (float(end) for end in re.fullmatch(r"\((.+),(.+)\] ms", row["delay"]).groups())
    return 2 * (min(high, delay_ms[1]) - max(low, delay_ms[0])) >= min(high - low, delay_ms[1] - delay_ms[0])


class PageCase(unittest.TestCase):
    """Chromium, and a folder for what it shows. A test has a result in `out`."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(made.cleanup)
        cls.folder = pathlib.Path(made.name)
        cls.out = cls.folder / "out"
        cls.driver = chromium()
        cls.addClassCleanup(cls.driver.quit)

    @classmethod
    def read_page(cls):
        """Reads the page beside the result."""
        cls.html = (cls.out / "report.html").read_text(encoding="utf-8")
        cls.data = data_of(cls.html)

    def setUp(self):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        for log in ("browser", "performance"):
            self.driver.get_log(log)  # what was there is not this test's
        self.open(self.out / "report.html")

    def open(self, path):
        self.driver.get(path.as_uri())
        self.frame()

    def frame(self):
        """Waits until what has changed is drawn, also what is not on the screen."""
        self.driver.execute_async_script("const done = arguments[0];"
                                         "requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(() => done())));")

    def settle(self):
        """Waits until pictures of linked views have their heights."""
        shares = "return [...document.querySelectorAll('.linked > div')].map((column) => column.style.getPropertyValue('--fit')).join(' ')"
        before = None
        while before != (before := self.driver.execute_script(shares)):
            self.frame()
            self.frame()

    def resize(self, width, height):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def picture(self, view):
        """Returns a picture of the element with this id, which is on the screen."""
        clip = self.driver.execute_script("""
            const { x, y, width, height } = document.getElementById(arguments[0]).getBoundingClientRect();
            return { x: x + scrollX, y: y + scrollY, width, height, scale: 1 }""", view)
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip})
        return Image.open(io.BytesIO(base64.b64decode(shot["data"])))

    def grey_picture(self, view):
        image = self.picture(view).convert("L")
        return image.resize((image.width // SCALE, image.height // SCALE), Image.Resampling.BOX)

    def assert_looks_as_kept(self, view, name):
        """Compares an element with its kept picture; with --update keeps it."""
        kept, now = KEPT / f"{name}.png", self.grey_picture(view)
        if UPDATE:
            now.save(kept, optimize=True)
            return
        before = Image.open(kept)
        self.assertLessEqual(abs(before.height - now.height), 4)  # a line of text may break elsewhere
        mean, block = difference(before, now)
        self.assertLess(mean, MOST_MEAN)
        self.assertLess(block, MOST_OF_A_BLOCK)

    def until(self, condition):
        """Waits until a condition holds, on a busy machine for long."""
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def reopen(self, ending):
        """Opens the address of the page anew, as soon as it ends so."""
        self.until(lambda: self.driver.current_url.endswith(ending))
        address = self.driver.current_url
        self.driver.get("about:blank")
        self.driver.get(address)
        self.frame()

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def press(self, selector):
        self.driver.execute_script("document.querySelector(arguments[0]).click()", selector)
        self.frame()

    def saved(self, button, name):
        """Presses a button that saves a file; returns what the file holds."""
        self.driver.execute_script("for (const one of document.querySelectorAll('details.save')) one.open = true")
        self.frame()
        place = self.folder / "saved"
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(place)})
        (place / name).unlink(missing_ok=True)
        self.press(button)
        self.until((place / name).is_file)
        return (place / name).read_bytes()

    def saved_svg(self, button, name):
        """Returns the picture that a button saves; it has the shape of the one in the page, and all colours in it."""
        picture = xml.fromstring(self.saved(button, name))
        self.assertEqual([float(picture.get(side)) for side in ("width", "height")], [float(word) for word in picture.get("viewBox").split()[2:]])
        self.assertEqual(picture.findall(".//*[@class]"), [])
        return picture

    def assert_saves_canvas(self, button, name, canvas):
        """The button saves what a canvas shows, on paper."""
        saved = np.asarray(Image.open(io.BytesIO(self.saved(button, name))))
        size = self.driver.execute_script("const { width, height } = document.querySelector(arguments[0]); return [height, width]", canvas)
        self.assertEqual(list(saved.shape[:2]), size)
        self.assertTrue((saved.reshape(*size, -1)[..., 3:] == 255).all())
        self.assertGreater(len(np.unique(saved[..., :3].reshape(-1, 3), axis=0)), 3)

    def saved_rows(self, button, name):
        """Returns the rows of the numbers that a button saves."""
        return list(csv.DictReader(io.StringIO(self.saved(button, name).decode())))

    def type(self, selector, text):
        self.driver.execute_script("const box = document.querySelector(arguments[0]); box.value = arguments[1];"
                                   "box.dispatchEvent(new Event('input'));", selector, text)

    def table(self, view):
        """Returns the cells of all pages of the table of a view."""
        return self.driver.execute_script("""
            const view = document.getElementById(arguments[0]);
            const [before, after] = view.querySelectorAll('.pages button');
            while (!before.disabled) before.click();
            const rows = [];
            for (;;) {
              for (const row of view.querySelectorAll('tbody tr')) rows.push([...row.cells].map((cell) => cell.textContent));
              if (after.disabled) return rows;
              after.click();
            }""", view)

    def assert_shown(self, cell, value):
        """A cell shows a number: all of a whole one, three digits of others."""
        self.assertAlmostEqual(number_in(cell), float(value), delta=0 if str(value).isdigit() else 0.00501 * abs(float(value)) + 1e-300)

    def assert_same(self, shown, table):
        """Compares cells of the page with cells of a table: numbers by value, if not whole by three digits; other text by itself."""
        self.assertEqual(len(shown), len(table))
        for left, right in zip(shown, table):
            for a, b in zip(left, right, strict=True):
                try:
                    self.assert_shown(a, b)
                except ValueError:
                    self.assertEqual(a, b)

    def counts(self, selector):
        """Returns the numbers that a chart is drawn of."""
        return [int(word) for word in self.one(selector).get_attribute("data-counts").split()]

    def assert_quiet(self):
        """The page that was opened has no error and has asked for nothing but itself."""
        self.assertEqual(self.driver.get_log("browser"), [])
        requests = [event["params"]["request"]["url"] for event in
                    (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
                    if event["method"] == "Network.requestWillBeSent"]
        self.assertTrue(requests)
        self.assertEqual({url for url in requests if not url.startswith("data:")}, {(self.out / "report.html").as_uri()})

    def assert_accessible(self):
        """axe-core finds no fault, dark or light, and the page can be printed."""
        axe = Axe()
        for other, rules in (("Dark", None), ("Light", {"runOnly": ["color-contrast"]})):  # only colours differ
            self.assertEqual(self.one("#theme").text, other)
            found = axe.run(self.driver, options=rules)["violations"]
            self.assertEqual([(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found], [])
            self.press("#theme")
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.assertFalse(self.one("#theme").is_displayed())

    def open_changed(self, change):
        """Opens the page with other data, which `change` makes of its own."""
        data = data_of(self.html)
        change(data)
        page = self.folder / "changed.html"
        page.write_text(with_data(self.html, data), encoding="utf-8")
        self.open(page)

    def open_nasty(self, change):
        """Opens the page with names that must not become markup; `change` puts them into the data."""
        def change_run_too(data):
            data["run"]["command"] = data["run"]["input"]["path"] = NASTY[0]
            data["run"]["input"]["warnings"] = NASTY
            change(data)

        self.open_changed(change_run_too)

        self.assertIsNone(self.driver.execute_script("return window.hit ?? null"))
        self.assertEqual(self.driver.get_log("browser"), [])
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "img, main script"), [])
        self.assertEqual([item.text for item in self.driver.find_elements(By.CSS_SELECTOR, "#warnings li")][0], NASTY[0])
