"""workflows/nextflow: what its steps run gives the result of one run. Nextflow itself is not needed."""

import re
import subprocess
import unittest

from support import ROOT, SPIKEWEAVE, CliTest, state

STEPS = (ROOT / "workflows/nextflow/modules/spikeweave.nf").read_text(encoding="utf-8")
CONFIG = (ROOT / "workflows/nextflow/nextflow.config").read_text(encoding="utf-8")
MAIN = (ROOT / "workflows/nextflow/main.nf").read_text(encoding="utf-8")
OPTIONS = "--surrogates 40 --seed 1 --alpha 0.1"


class Nextflow(CliTest):
    def step(self, process, place, inputs, **values):
        """Runs the script of a process in a folder of its own, in which links stand for the inputs, as in Nextflow."""
        body = re.search(rf"process {process} {{.*?\n}}\n", STEPS, re.DOTALL)[0]
        script = re.search(r'script:\s*"""(.*?)"""', body, re.DOTALL)[1]
        values = {"params.command": "spade", "params.options": OPTIONS, "params.parts": 3, "params.table": "patterns", "task.cpus": 1, **values}
        script = re.sub(r"\$\{(.*?)\}", lambda found: str(values[found[1]]), script)
        work = self.folder / place
        work.mkdir()
        for path in inputs:
            (work / path.name).symlink_to(path)
        (work / "spikeweave").symlink_to(SPIKEWEAVE)
        subprocess.run(["bash", "-ue"], input=f"PATH=$PWD:$PATH\n{script}", cwd=work, text=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        made = re.search(r"output:\n.*?path\(? ?\"(.*?)\"", body, re.DOTALL)[1]
        return work / re.sub(r"\$\{(.*?)\}", lambda found: str(values[found[1]]), made)

    def test_steps_give_the_result_of_one_run(self):
        results = []
        for name in "AB":
            spikes = self.folder / f"{name}.tsv"
            self.ok("simulate", "patterns", "--units", "8", "--rate", "8", "--patterns", "4", "--occurrences", "15", "--length", "20s",
                    "--seed", "1", "-o", spikes)
            parts = [self.step("PART", f"{name}{part}", [spikes], recording=name, part=part, spikes=spikes.name) for part in (1, 2, 3)]
            results.append(self.step("MERGE", f"{name}-merge", [spikes, *parts], recording=name, spikes=spikes.name, parts=" ".join(part.name for part in parts)))
            self.ok("spade", spikes.name, *OPTIONS.split(), "--threads", "1", "-o", f"whole-{name}", cwd=self.folder)
            self.assertEqual(state(results[-1]), state(self.folder / f"whole-{name}"))

        table = self.step("TABLE", "table", results, results=" ".join(result.name for result in results))

        rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
        self.assertEqual(rows[0][:2], ["recording", "observed_s"])
        self.assertEqual({row[0] for row in rows[1:]}, {"A", "B"})

    def test_every_parameter_has_a_value_and_every_step_is_used(self):
        used = set(re.findall(r"params\.(\w+)", STEPS + MAIN))
        self.assertEqual(used - set(re.findall(r"^    (\w+) = ", CONFIG, re.MULTILINE)), set())
        for process in re.findall(r"process (\w+) ", STEPS):
            self.assertIn(f"{process}(", MAIN)


if __name__ == "__main__":
    unittest.main()
