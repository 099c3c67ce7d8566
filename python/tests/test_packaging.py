"""What is checked of the packages without building them; scripts/test-packages installs and uses them."""

import configparser
import contextlib
import io
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
import zipfile
from unittest import mock
from xml.etree import ElementTree

from common import HERE, NEEDS_PROGRAM, PROGRAM

ROOT = HERE.parents[1]
PACKAGING = ROOT / "packaging"
sys.path.insert(0, str(ROOT / "scripts"))
import notices  # noqa: E402
import wheel_checks  # noqa: E402


def text(*place):
    return ROOT.joinpath(*place).read_text(encoding="utf-8")


@unittest.skipUnless(shutil.which("cargo"), "cargo is not installed")
class Notices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.crates = notices.crates()
        cls.text = "\n\n".join(notices.notices())

    def test_every_crate_of_the_program_has_its_terms_and_a_text(self):
        locked = set(re.findall(r'name = "(.+)"\nversion = "(.+)"', text("Cargo.lock")))
        self.assertGreater(len(self.crates), 200)
        for crate in self.crates:
            self.assertIn((crate["name"], crate["version"]), locked)
            name = re.escape(f"{crate['name']} {crate['version']}")
            self.assertRegex(self.text, rf"(?m)^{name}: {re.escape(crate['license'])}")
            self.assertRegex(self.text, rf"(?m)^For (.*, )?{name}(,|$)")

    def test_what_only_tests_and_other_platforms_use_is_not_in_it(self):
        names = {crate["name"] for crate in self.crates}
        self.assertLessEqual({"egui", "arrow-array", "libsqlite3-sys", "x11rb"}, names)
        self.assertFalse(names & {"proptest", "egui_kittest", "windows-sys", "libfuzzer-sys", "tilescope"})

    def test_a_crate_without_a_text_is_refused_where_one_is_needed(self):
        with tempfile.TemporaryDirectory() as directory:
            crate = {
                "name": "made-up",
                "version": "1.0.0",
                "license": "MIT",
                "authors": [],
                "manifest_path": directory + "/Cargo.toml",
            }
            with mock.patch("notices.crates", return_value=[crate]), self.assertRaises(SystemExit):
                list(notices.notices())
            for changes, said in [
                ({"authors": ["Somebody"]}, "MIT License\n\nCopyright (c) Somebody\n\nPermission is"),
                ({"license": "MIT OR Apache-2.0"}, "made-up 1.0.0: MIT OR Apache-2.0"),
            ]:
                with mock.patch("notices.crates", return_value=[{**crate, **changes}]):
                    self.assertIn(said, "\n".join(notices.notices()))


class Wheel(unittest.TestCase):
    def test_names_that_its_metadata_gives_are_there(self):
        project = text("pyproject.toml")
        plugin = re.search(r'^tilescope = "(tilescope\.\w+)"', project, re.MULTILINE)[1]
        self.assertTrue(ROOT.joinpath("python", *plugin.split(".")).with_suffix(".py").exists())
        license_of_crate = re.search(r'^license = "(.+)"', text("Cargo.toml"), re.MULTILINE)[1]
        self.assertIn(f'license = "{license_of_crate}"', project)

    @NEEDS_PROGRAM
    @unittest.skipUnless(shutil.which("objdump"), "objdump is not installed")
    def test_the_checks_find_what_is_wrong_with_a_wheel(self):
        with tempfile.TemporaryDirectory() as directory:
            wheel = pathlib.Path(directory, "tilescope-0.1.0-py3-none-linux_x86_64.whl")
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.write(PROGRAM, "tilescope-0.1.0.data/scripts/tilescope")
                archive.writestr("tests/common.py", "")
            stricter = mock.patch.multiple(wheel_checks, MOST_BYTES=1000, NEWEST_GLIBC=(2, 2))
            with stricter, contextlib.redirect_stdout(io.StringIO()):
                found = "\n".join(wheel_checks.faults(wheel))
        for fault in ("the tag is not", "more than 1,000", "LICENSE-THIRD-PARTY", "does not belong", "needs glibc 2."):
            self.assertIn(fault, found)


class Desktop(unittest.TestCase):
    def test_the_menu_entry_opens_the_types_that_are_described(self):
        entry = configparser.ConfigParser(interpolation=None)
        entry.read(PACKAGING / "tilescope.desktop", encoding="utf-8")
        types = entry["Desktop Entry"]["MimeType"].strip(";").split(";")
        described = ElementTree.parse(PACKAGING / "tilescope.xml").getroot()
        self.assertEqual(types, [one.get("type") for one in described])
        self.assertEqual(entry["Desktop Entry"]["Exec"], "tilescope %F")
        # A desktop finds the entry of a window by this name.
        self.assertIn('.with_app_id("tilescope")', text("src/ui/mod.rs"))

    def test_the_hint_of_the_program_names_packages_that_are_recommended(self):
        hint = re.search(r'const PACKAGES: &str = "([^"]+)"', text("src/ui/mod.rs"))[1]
        recommended = re.search(r"window_packages=\(([^)]+)\)", text("scripts/packages.sh"))[1]
        self.assertLessEqual(set(hint.replace("\\", "").split()), set(recommended.split()))

    def test_descriptions_and_the_icon_are_xml(self):
        for name in ("tilescope.metainfo.xml", "tilescope.svg"):
            ElementTree.parse(PACKAGING / name)


if __name__ == "__main__":
    unittest.main()
