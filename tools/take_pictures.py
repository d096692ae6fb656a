#!/usr/bin/env python3
"""Takes the pictures of pages in docs/images that need nothing but the recordings of `spikeweave example`.

Usage: take_pictures.py SPIKEWEAVE, with the Python of tests/interop and Chromium. Look at them before you commit them.
"""

import io
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "interop"))
from browser import Image, PageCase, spikeweave  # noqa: E402

COLOURS = 64


class Pictures(PageCase):
    def keep(self, name, image):
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(ROOT / "docs" / "images" / name, optimize=True)

    def runTest(self):
        spikeweave("example", "culture", "-o", self.folder / "culture.tsv")
        spikeweave("episodes", self.folder / "culture.tsv", "-o", self.out)
        self.resize(1400, 900)
        self.open(self.out / "report.html")
        self.keep("culture-page.png", Image.open(io.BytesIO(self.driver.get_screenshot_as_png())))
        self.resize(1400, 1800)  # the view is on the screen
        self.press("#correlogram details:not(.save) summary")
        self.keep("correlogram.png", self.picture("correlogram"))


if __name__ == "__main__":
    case = Pictures()
    Pictures.setUpClass()
    try:
        case.runTest()
    finally:
        Pictures.doClassCleanups()
