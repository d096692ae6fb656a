#!/usr/bin/env python3
"""Takes the pictures of pages in docs/images that need nothing but the recordings of `spikeweave example`.

Usage: take_pictures.py SPIKEWEAVE, with the Python of tests/interop and Chromium. Look at them before you commit them.
"""

import base64
import io
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "interop"))
from browser import Image, PageCase, spikeweave  # noqa: E402

COLOURS = 64


class Pictures(PageCase):
    def picture(self, name, clip=None):
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip | {"scale": 1}} if clip else {})
        image = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
        image.quantize(COLOURS, dither=Image.Dither.NONE).save(ROOT / "docs" / "images" / name, optimize=True)

    def resize(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def runTest(self):
        spikeweave("example", "culture", "-o", self.folder / "culture.tsv")
        spikeweave("episodes", self.folder / "culture.tsv", "-o", self.out)
        self.resize(1400, 900)
        self.open(self.out / "report.html")
        self.picture("culture-page.png")
        self.resize(1400, 1800)  # the view is on the screen
        self.press("#correlogram details:not(.save) summary")
        self.picture("correlogram.png", self.driver.execute_script("""
            const { x, y, width, height } = document.getElementById("correlogram").getBoundingClientRect();
            return { x: x + scrollX, y: y + scrollY, width, height }"""))


if __name__ == "__main__":
    case = Pictures()
    Pictures.setUpClass()
    try:
        case.runTest()
    finally:
        Pictures.doClassCleanups()
