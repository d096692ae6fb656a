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
# Names what the correlogram of the picked edge shows: `texts` are of the highest bar within the delay, of the line of chance and of the delay.
NAME_PARTS = """
const chart = document.querySelector("#correlogram svg.chart");
const add = (tag, attributes, text) => {
  const made = chart.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text ?? "";
};
const box = (part) => part.getBBox();
const shade = box(chart.querySelector(".shade"));
const inside = [...chart.querySelectorAll(".bar")].map(box).filter(({ x }) => x >= shade.x && x < shade.x + shade.width);
const bar = inside.reduce((a, b) => (b.y < a.y ? b : a));
const points = [...chart.querySelector(".mean").points];
const beside = points.reduce((a, b) => (Math.abs(b.x - 460) < Math.abs(a.x - 460) ? b : a));
const [count, expected, delay] = arguments[0];
for (const [text, anchor, x, y, toX, toY] of [[count, "end", shade.x - 40, 36, bar.x + bar.width / 2, bar.y + 6],
  [expected, "start", shade.x + 44, Math.min(beside.y - 46, 96), beside.x - 70, beside.y - 1], [delay, "start", shade.x + 40, 26, shade.x + shade.width - 3, 30]]) {
  const line = anchor === "end" ? [x + 4, y - 4] : text === expected ? [x + 40, y + 4] : [x - 4, y - 4];
  add("path", { d: `M${line}L${toX},${toY}`, stroke: "var(--mark)", "stroke-width": 1.5 });
  add("text", { x, y, "text-anchor": anchor, "font-weight": 600, stroke: "var(--paper)", "stroke-width": 6, "paint-order": "stroke" }, text);
}"""


class Pictures(PageCase):
    def keep(self, name, image):
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(ROOT / "docs" / "images" / name, optimize=True)

    def runTest(self):
        spikeweave("example", "culture", "-o", self.folder / "culture.tsv")
        spikeweave("episodes", self.folder / "culture.tsv", "-o", self.out)
        self.resize(1400, 900)
        self.open(self.out / "report.html")
        self.settle()
        self.keep("culture-page.png", Image.open(io.BytesIO(self.driver.get_screenshot_as_png())))
        self.resize(1400, 1800)  # the view is on the screen
        self.press("#correlogram details:not(.save) summary")
        self.keep("correlogram.png", self.picture("correlogram"))
        self.keep_chart("count-expected-delay.png", "count: pairs of spikes with this delay", "expected by chance", "delay")
        spikeweave("simulate", "culture", "--length", "60s", "--seed", "1", "-o", self.folder / "bursts.tsv")
        spikeweave("episodes", self.folder / "bursts.tsv", "--max-size", "2", "--test", "exact", "-o", self.folder / "bursts")
        self.open(self.folder / "bursts" / "report.html")
        self.keep_chart("shared-rates.png", "count: as high at every lag", "expected at constant rates", "delay")

    def keep_chart(self, name, *texts):
        """The correlogram alone, with names of its parts."""
        self.driver.execute_script(NAME_PARTS, texts)
        self.keep(name, Image.open(io.BytesIO(self.one("#correlogram .frame").screenshot_as_png)))


if __name__ == "__main__":
    case = Pictures()
    Pictures.setUpClass()
    try:
        case.runTest()
    finally:
        Pictures.doClassCleanups()
