"""spikeweave completion: the scripts, run by the shells themselves."""

import shutil
import subprocess
import unittest

from support import CliTest, run


def by_bash(script, *words):
    """The words that bash offers for the last of these words."""
    lines = [script, f"COMP_WORDS=(spikeweave {' '.join(repr(word) for word in words)})", f"COMP_CWORD={len(words)}",
             "_spikeweave", 'printf "%s\\n" "${COMPREPLY[@]}"']
    done = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


class Completion(CliTest):
    def test_bash_completes_commands_and_options(self):
        script = self.ok("completion").stdout
        self.assertEqual(by_bash(script, "epi"), {"episodes"})
        self.assertIn("simulate", by_bash(script, ""))
        self.assertEqual(by_bash(script, "simulate", "cul"), {"culture"})
        self.assertIn("--max-size", by_bash(script, "episodes", "--ma"))
        self.assertIn("--quiet", by_bash(script, "--max-size", "3", "-"))
        self.assertEqual(by_bash(script, "episodes", "file", "--max-si"), {"--max-size"})
        self.assertIn("--difficulty", by_bash(script, "simulate", "recording", "--dif"))
        self.assertEqual(by_bash(script, "episodes", ""), set())

    def test_every_option_of_help_is_completed(self):
        script = self.ok("completion").stdout
        for command in ("episodes", "spade", "sort"):
            options = by_bash(script, command, "--")
            for line in run(command, "--help").stdout.splitlines():
                if line.startswith("  --"):
                    self.assertIn(line.split()[0].split(",")[0].split("[")[0], options)

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_understands_its_script(self):
        script = self.folder / "_spikeweave"
        script.write_text(self.ok("completion", "--shell", "zsh").stdout)
        subprocess.run(["zsh", "-n", script], check=True)
        done = subprocess.run(["zsh", "-fc", "autoload -U compinit; compinit -u -D; source $0; echo $_comps[spikeweave]", script],
                              capture_output=True, text=True, check=True)
        self.assertEqual((done.stdout, done.stderr), ("_spikeweave\n", ""))

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish_completes_commands_and_options(self):
        script = self.folder / "spikeweave.fish"
        script.write_text(self.ok("completion", "--shell", "fish").stdout)

        def offered(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"],
                                  capture_output=True, text=True, check=True)
            self.assertEqual(done.stderr, "")
            return {row.split("\t")[0] for row in done.stdout.splitlines()}

        self.assertIn("episodes", offered("spikeweave epi"))
        self.assertIn("culture", offered("spikeweave simulate cul"))
        self.assertIn("--max-size", offered("spikeweave episodes --max-s"))

    def test_the_shell_may_be_a_word(self):
        for shell in ("bash", "zsh", "fish"):
            self.assertEqual(self.ok("completion", shell).stdout, self.ok("completion", "--shell", shell).stdout)
        self.refused("completion", "csh", says=("csh", "bash"))

    def test_other_shells_are_refused(self):
        self.refused("completion", "--shell", "csh", says=("--shell", "bash"))


if __name__ == "__main__":
    unittest.main()
