#!/usr/bin/env python3
"""Tests of scripts/generate_settings.py against the real manifest template and damaged copies of it."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "VkLayer_robust_cache.json.in"
KEYS = [node["key"] for node in json.loads(TEMPLATE.read_text())["layer"]["features"]["settings"]]


class GenerateSettings(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def generate(self, *arguments, template=TEMPLATE):
        return subprocess.run([sys.executable, ROOT / "scripts/generate_settings.py", template, *arguments],
                              capture_output=True, text=True, check=False)

    def generated(self, option, *arguments, name="out"):
        result = self.generate(*arguments, option, self.path / name)
        self.assertEqual(result.returncode, 0, result.stderr)
        return (self.path / name).read_text()

    def damaged(self, change):
        document = json.loads(TEMPLATE.read_text())
        change(document["layer"]["features"])
        path = self.path / "damaged.json"
        path.write_text(json.dumps(document))
        return self.generate("--sample", self.path / "sample", template=path)

    def test_every_document_names_every_key(self):
        for option in ("--sample", "--man", "--android", "--explicit"):
            text = self.generated(option)
            for key in KEYS:
                self.assertIn(key.replace("-", "\\-"), text, f"{option} {key}")

    def test_manifests(self):
        explicit = json.loads(self.generated("--explicit"))["layer"]
        implicit = json.loads(self.generated("--implicit", "--library", "../x.so"))["layer"]
        self.assertEqual(explicit["library_path"], "./libVkLayer_robust_cache.so")
        self.assertEqual(implicit["library_path"], "../x.so")
        self.assertEqual(implicit["enable_environment"], {"ENABLE_ROBUST_CACHE": "1"})
        self.assertEqual(implicit["disable_environment"], {"DISABLE_ROBUST_CACHE": "1"})
        self.assertNotIn("enable_environment", explicit)
        self.assertNotIn("disable_environment", explicit)
        self.assertEqual(explicit["name"], implicit["name"])
        self.assertEqual(explicit["features"], implicit["features"])
        self.assertNotIn('"x-', json.dumps(explicit))

    def test_default_preset(self):
        layer = json.loads(self.generated("--explicit", "--default-preset=off"))["layer"]
        defaults = {node["key"]: node["default"] for node in layer["features"]["settings"]}
        self.assertEqual((defaults["preset"], defaults["cache"]), ("off", False))
        self.generate("--default-preset=off", "--table", self.path)
        self.assertIn('.standard = "off"', (self.path / "settings_entries.h").read_text())
        result = self.generate("--default-preset=nonsense", "--sample", self.path / "sample")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("caches, report, off", result.stderr)

    def test_default_preset_on_android(self):
        self.generate("--table", self.path)
        table = (self.path / "settings_entries.h").read_text()
        self.assertIn('.standard = ANDROID_OR("caches", "repair")', table)
        self.assertIn('.standard = ANDROID_OR("off", "repair")', table)
        properties = self.generated("--android")
        self.assertIn("robust_cache.preset=caches\n", properties)
        self.assertIn("robust_cache.barriers=off\n", properties)
        self.generate("--default-preset=repair", "--table", self.path)
        self.assertNotIn('ANDROID_OR("caches"', (self.path / "settings_entries.h").read_text())

    def test_check_finds_what_is_stale(self):
        sample = self.path / "sample"
        self.assertNotEqual(self.generate("--check", "--sample", sample).returncode, 0)
        self.assertFalse(sample.exists())
        self.generated("--sample", name="sample")
        self.assertEqual(self.generate("--check", "--sample", sample).returncode, 0)
        sample.write_text(sample.read_text().replace("256MiB", "255MiB"))
        result = self.generate("--check", "--sample", sample)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(str(sample), result.stderr)

    def test_readme(self):
        readme = self.path / "README.md"
        readme.write_text("# Title\n<!-- settings -->\nearlier text\n<!-- /settings -->\nend\n")
        self.assertNotEqual(self.generate("--check", "--readme", readme).returncode, 0)
        self.assertEqual(self.generate("--readme", readme).returncode, 0)
        self.assertEqual(self.generate("--check", "--readme", readme).returncode, 0)
        text = readme.read_text()
        self.assertTrue(text.startswith("# Title\n<!-- settings -->\n| setting |"))
        self.assertTrue(text.endswith("|\n<!-- /settings -->\nend\n"))
        self.assertNotIn("earlier text", text)
        for key in KEYS:
            self.assertIn(f"\n| `{key}` |", text)
        readme.write_text(text.replace("| `scope` |", "| `scape` |"))
        self.assertNotEqual(self.generate("--check", "--readme", readme).returncode, 0)
        for broken in ("", "<!-- settings -->", "<!-- /settings --><!-- settings -->"):
            readme.write_text(broken)
            self.assertNotEqual(self.generate("--readme", readme).returncode, 0)
            self.assertEqual(readme.read_text(), broken)

    def test_damaged_templates_are_refused(self):
        def setting(features, key):
            return next(node for node in features["settings"] if node["key"] == key)

        changes = {
            "env": lambda features: setting(features, "scope").update(env="VK_SCOPE"),
            "default of an enum": lambda features: setting(features, "scope").update(default="planet"),
            "default out of range": lambda features: setting(features, "save_interval").update(default=0),
            "default of a size": lambda features: setting(features, "max_size").update(default="1T"),
            "default on Android": lambda features: setting(features, "max_size").update({"x-android-default": "1"}),
            "preset without values": lambda features: features["presets"][1]["settings"].pop(),
            "preset's value": lambda features: features["presets"][1]["settings"][1].update(value="no"),
            "preset missing": lambda features: features["presets"].pop(),
            "type": lambda features: setting(features, "cache").update(type="BOOLEAN"),
        }
        self.assertEqual(self.damaged(lambda features: None).returncode, 0)
        for name, change in changes.items():
            self.assertNotEqual(self.damaged(change).returncode, 0, name)

    def test_the_layer_presents_itself_as_the_manifest_does(self):
        layer = json.loads(TEMPLATE.read_text())["layer"]
        header = (ROOT / "layer/layer_name.h").read_text()
        macros = dict(line.split(None, 2)[1:] for line in header.splitlines() if line.startswith("#define LAYER_"))
        version = layer["api_version"].replace(".", ", ")
        self.assertEqual(macros, {
            "LAYER_NAME": f'"{layer["name"]}"',
            "LAYER_DESCRIPTION": f'"{layer["description"]}"',
            "LAYER_IMPLEMENTATION_VERSION": layer["implementation_version"],
            "LAYER_SPEC_VERSION": f"VK_MAKE_API_VERSION(0, {version})",
        })


if __name__ == "__main__":
    unittest.main()
