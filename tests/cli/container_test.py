"""container: recipes of images. What they copy and call is there, and the libraries that they install are those of the command."""

import os
import re
import shutil
import subprocess
import unittest

from support import ROOT, SPIKEWEAVE, CliTest

FOLDER = ROOT / "container"
# The words that a line of a Dockerfile may begin with.
INSTRUCTIONS = {"FROM", "ARG", "ENV", "WORKDIR", "COPY", "RUN", "CMD"}


def instructions():
    text = re.sub(r"^#.*\n", "", (FOLDER / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [line.split(None, 1) for line in text.replace("\\\n", " ").splitlines() if line]


class Container(CliTest):
    def test_the_dockerfile_copies_and_calls_what_is_there(self):
        lines = instructions()
        self.assertLessEqual({word for word, _ in lines}, INSTRUCTIONS)
        self.assertEqual(lines[0][0], "FROM")
        stages = {rest.split(" AS ")[1] for word, rest in lines if word == "FROM" and " AS " in rest}
        for word, rest in lines:
            if word == "COPY" and (stage := re.match(r"--from=(\S+) ", rest)):
                self.assertIn(stage[1], stages)
            elif word == "COPY":
                self.assertTrue((ROOT / rest.split()[0]).exists(), rest)
            elif word == "RUN":
                subprocess.run(["bash", "-n", "-c", rest], check=True)
                program = rest.split()[0]
                self.assertTrue(program.startswith("/") or (ROOT / program).stat().st_mode & 0o100, rest)
        known = re.findall(r"\$\{(\w+):-", (FOLDER / "build").read_text(encoding="utf-8"))
        self.assertEqual({rest.split("=")[0] for word, rest in lines if word == "ARG"}, set(known))

    def test_both_recipes_do_the_same(self):
        """Packages are named in scripts only, so that the recipes cannot differ."""
        docker = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
        apptainer = (FOLDER / "spikeweave.def").read_text(encoding="utf-8")
        for recipe in (docker, apptainer):
            self.assertNotRegex(recipe, r"\b(apt|apt-get|dpkg)\b")
            self.assertEqual(re.findall(r"^F(?:ROM|rom:) (\S+)", recipe, re.MULTILINE), ["debian:12", "debian:12-slim"])
            self.assertRegex(recipe, r"container/build /image\n")
            self.assertIn("/image /opt/spikeweave\n", recipe)
            self.assertIn("/opt/spikeweave/install", recipe)
            self.assertIn("CUDA=13-0\n", recipe)

    def test_scripts_build_with_the_packages_of_bootstrap(self):
        build = (FOLDER / "build").read_text(encoding="utf-8")
        self.assertIn("\nscript/bootstrap build\n", build)
        for name in ("build", "libraries"):
            subprocess.run(["bash", "-n", FOLDER / name], check=True)
            if shutil.which("shellcheck"):
                subprocess.run(["shellcheck", FOLDER / name], check=True)

    @unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "this is no Debian")
    def test_the_libraries_of_the_command_are_listed(self):
        listed = subprocess.run([FOLDER / "libraries", SPIKEWEAVE], capture_output=True, text=True, check=True).stdout.split()
        self.assertTrue(all(re.fullmatch(r"[a-z0-9][a-z0-9.+-]+", name) for name in listed), listed)
        needed = re.findall(r"NEEDED +(\S+)", subprocess.run(["objdump", "-p", SPIKEWEAVE], capture_output=True, text=True, check=True).stdout)
        found = dict(re.findall(r"(\S+) => (\S+)", subprocess.run(["ldd", SPIKEWEAVE], capture_output=True, text=True, check=True).stdout))
        self.assertGreater(len(needed), 5)
        # The folder of a library may be called /lib or /usr/lib.
        real = [os.path.realpath(found.get(name, name)) for name in needed]
        owners = subprocess.run(["dpkg", "-S", *real, *(path.removeprefix("/usr") for path in real)], capture_output=True, text=True, check=False).stdout
        self.assertGreater(len(owners.splitlines()), 5)
        self.assertLessEqual({line.split(":")[0] for line in owners.splitlines()}, set(listed))


if __name__ == "__main__":
    unittest.main()
