#!/usr/bin/env python3
"""Makes everything that repeats the settings from their single source, the layer's manifest template.

usage: generate_settings.py MANIFEST [--default-preset NAME] [--check] OUTPUT...

Outputs (any number):
  --table FOLDER                 settings_table.h and settings_entries.h for layer/settings.c
  --explicit FILE --implicit FILE  manifests for the loader, with --library PATH as their library_path
  --sample FILE                  a commented vk_layer_settings.txt
  --readme FILE                  the table between <!-- settings --> and <!-- /settings --> of an existing file
  --man FILE                     a section for the manual page
  --android FILE                 the system properties that Android reads instead of environment variables

--check writes nothing and fails if an output isn't what would be written.

The template is a Khronos layer manifest. Keys that begin with "x-" are the template's own and don't
reach any manifest: x-type SIZE (a STRING that holds a number of bytes), x-range (its bounds),
x-android-default (the default of Android builds).
"""

import argparse
import json
import pathlib
import sys
import textwrap

NAMESPACE = "robust_cache"
ENVIRONMENT = "VK_ROBUST_CACHE_"
PROPERTY = "debug.vulkan.robust_cache."

MEMBERS = {"BOOL": "bool", "NUMBER": "uint32_t", "SIZE": "uint64_t", "STRING": "const char *", "FOLDER": "const char *"}
KINDS = {"BOOL": "BOOL", "INT": "NUMBER", "ENUM": "ENUM", "STRING": "STRING", "LIST": "STRING", "SAVE_FILE": "STRING",
         "LOAD_FILE": "STRING", "SAVE_FOLDER": "FOLDER", "LOAD_FOLDER": "FOLDER"}
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def bytes_of(text):
    digits = text.rstrip("KMGiB")
    return int(digits) * UNITS[text[len(digits):]]


def text_of(value):
    """A value of the manifest as it stands in a settings file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(value)
    return str(value)


class Setting:
    def __init__(self, node):
        self.key = node["key"]
        self.environment = node["env"]
        self.description = node["description"]
        self.kind = node.get("x-type") or KINDS[node["type"]]
        self.type = node["type"]
        self.unit = node.get("unit", "")
        self.values = [flag["key"] for flag in node.get("flags", [])]
        self.flags = node.get("flags", [])
        self.default = text_of(node["default"])
        self.android_default = text_of(node.get("x-android-default", node["default"]))
        limits = node.get("x-range") or node.get("range") or {"min": 0, "max": 0}
        self.low, self.high = (bytes_of(str(limits[end])) for end in ("min", "max"))
        self.limits = limits
        if self.environment != ENVIRONMENT + self.key.upper():
            sys.exit(f"{self.key}: env is {self.environment}, expected {ENVIRONMENT}{self.key.upper()}")
        for value in (self.default, self.android_default):
            self.require(value)

    def require(self, value):
        valid = {"BOOL": lambda: value in ("true", "false"),
                 "NUMBER": lambda: self.low <= int(value) <= self.high,
                 "SIZE": lambda: self.low <= bytes_of(value) <= self.high,
                 "ENUM": lambda: value in self.values}
        if not valid.get(self.kind, lambda: True)():
            sys.exit(f"{self.key}: '{value}' isn't allowed")

    def allowed(self):
        """What may be given, for people. The same words stand in messages about what may not."""
        words = {"BOOL": "true or false",
                 "NUMBER": f"a number of {self.unit} from {self.limits['min']} to {self.limits['max']}",
                 "SIZE": f"a size from {self.limits['min']} to {self.limits['max']} (bytes, or with K, M, G, KiB, MiB or GiB)",
                 "ENUM": ", ".join(self.values[:-1]) + " or " + self.values[-1] if self.values else "",
                 "FOLDER": "an absolute path of at most 4095 bytes"}
        texts = {"LIST": "names separated by commas", "SAVE_FILE": "a path", "LOAD_FILE": "a path"}
        return words.get(self.kind) or texts.get(self.type, "text")

    def default_for_people(self):
        return f"{self.default} {self.unit}".strip() if self.default else "none"


class Manifest:
    def __init__(self, path, default_preset):
        self.document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        features = self.document["layer"]["features"]
        self.presets = {}
        for preset in features["presets"]:
            values = {entry["key"]: text_of(entry["value"]) for entry in preset["settings"]}
            self.presets[values.pop("preset")] = values
        nodes = features["settings"]
        preset = next(node for node in nodes if node["key"] == "preset")
        standard = default_preset or preset["default"]
        android = default_preset or preset.get("x-android-default", standard)
        for key, name in (("default", standard), ("x-android-default", android)):
            if name not in self.presets:
                sys.exit(f"preset '{name}': the manifest knows {', '.join(self.presets)}")
            self.make_default(nodes, key, name)
        self.settings = [Setting(node) for node in nodes]
        by_key = {setting.key: setting for setting in self.settings}
        if set(by_key["preset"].values) != set(self.presets):
            sys.exit("the values of 'preset' aren't those of features.presets")
        if len({tuple(sorted(values)) for values in self.presets.values()}) != 1:
            sys.exit("every preset must set the same keys: what one leaves out would depend on the default preset")
        for values in self.presets.values():
            for key, value in values.items():
                by_key[key].require(value)

    def make_default(self, nodes, key, name):
        """What a preset sets becomes the settings' defaults."""
        entries = next(preset["settings"] for preset in self.document["layer"]["features"]["presets"]
                       if {"key": "preset", "value": name} in preset["settings"])
        values = {entry["key"]: entry["value"] for entry in entries}
        for node in nodes:
            if node["key"] in values:
                node[key] = values[node["key"]]


def quoted(text):
    return json.dumps(text) if text else "NULL"


def enumerator(setting, value):
    return f"SETTINGS_{setting.key}_{value}".upper()


def table_header(manifest):
    lines = ["/* Made by scripts/generate_settings.py from VkLayer_robust_cache.json.in. */",
             "#ifndef RC_SETTINGS_TABLE_H", "#define RC_SETTINGS_TABLE_H", "",
             "#include <stdbool.h>", "#include <stdint.h>", ""]
    for setting in manifest.settings:
        if setting.kind == "ENUM":
            lines += [f"enum settings_{setting.key} {{"]
            lines += [f"    {enumerator(setting, value)}," for value in setting.values] + ["};", ""]
    lines += ["/* Texts are NULL where unset. */", "struct settings_values {"]
    for setting in manifest.settings:
        member = MEMBERS.get(setting.kind, f"enum settings_{setting.key}")
        lines += [f"    {member}{'' if member.endswith('*') else ' '}{setting.key};"]
    lines += ["};", "", "#endif"]
    return "\n".join(lines) + "\n"


def table_entries(manifest):
    lines = ["/* Made by scripts/generate_settings.py from VkLayer_robust_cache.json.in; included by settings.c alone. */",
             "enum settings_key {"]
    lines += [f"    SETTINGS_KEY_{setting.key.upper()}," for setting in manifest.settings]
    lines += ["    SETTINGS_KEY_COUNT", "};", ""]
    for setting in manifest.settings:
        if setting.kind == "ENUM":
            names = ", ".join(quoted(value) for value in setting.values)
            lines += [f"static const char *const {setting.key}_names[] = {{{names}, NULL}};"]
    lines += ["", "static const struct settings_entry settings_entries[SETTINGS_KEY_COUNT] = {"]
    for setting in manifest.settings:
        default = quoted(setting.default)
        android = quoted(setting.android_default)
        lines += ["    {", f"        .key = {quoted(setting.key)},", f"        .environment = {quoted(setting.environment)},",
                  f"        .kind = SETTINGS_KIND_{setting.kind},",
                  f"        .offset = offsetof(struct settings_values, {setting.key}),",
                  f"        .standard = {default if default == android else f'ANDROID_OR({android}, {default})'},",
                  f"        .allowed = {quoted(setting.allowed())},"]
        if setting.kind == "ENUM":
            lines += [f"        .names = {setting.key}_names,"]
        if setting.high:
            lines += [f"        .low = {setting.low}u,", f"        .high = {setting.high}u,"]
        lines += ["    },"]
    lines += ["};", "", "static const struct settings_override settings_overrides[] = {"]
    preset = next(setting for setting in manifest.settings if setting.key == "preset")
    for name, values in manifest.presets.items():
        lines += [f"    {{{enumerator(preset, name)}, SETTINGS_KEY_{key.upper()}, {quoted(value)}}},"
                  for key, value in values.items()]
    return "\n".join(lines + ["};"]) + "\n"


def without_extensions(node):
    if isinstance(node, dict):
        return {key: without_extensions(value) for key, value in node.items() if not key.startswith("x-")}
    return [without_extensions(value) for value in node] if isinstance(node, list) else node


def loader_manifest(manifest, library, implicit):
    document = without_extensions(manifest.document)
    layer = document["layer"]
    layer["library_path"] = library
    if implicit:
        # Loader 1.3.239 lists the extensions of implicit layers and then refuses those that it doesn't know:
        # vulkaninfo, which enables all it is shown, would fail. Settings given through the API work without it.
        del layer["instance_extensions"]
        layer["enable_environment"] = {"ENABLE_ROBUST_CACHE": "1"}
        layer["disable_environment"] = {"DISABLE_ROBUST_CACHE": "1"}
    return json.dumps(document, indent=4) + "\n"


def sample(manifest):
    lines = ["# Settings of VK_LAYER_ROBUST_cache. Every line is a comment; remove the leading # to change a default.",
             "# The loader's layers find this file through VK_LAYER_SETTINGS_PATH (a file or a folder), else in",
             "# $XDG_DATA_HOME/vulkan/settings.d or ~/.local/share/vulkan/settings.d, else in the working directory.",
             "# An environment variable beats this file.", ""]
    for setting in manifest.settings:
        lines += [f"# {line}" for line in textwrap.wrap(setting.description, 100)]
        lines += [f"# Allowed: {setting.allowed()}. Environment: {setting.environment}."]
        lines += [f"#{NAMESPACE}.{setting.key} = {setting.default}".rstrip(), ""]
    return "\n".join(lines).rstrip() + "\n"


def readme_table(manifest):
    lines = ["| setting | default | allowed | meaning |", "|---|---|---|---|"]
    for setting in manifest.settings:
        default = f"`{setting.default}`{' ' + setting.unit if setting.unit else ''}" if setting.default else "none"
        if setting.android_default != setting.default:
            default += f" (Android `{setting.android_default}`)"
        allowed = ", ".join(f"`{value}`" for value in setting.values) or setting.allowed()
        lines += [f"| `{setting.key}` | {default} | {allowed} | {setting.description} |"]
    return "\n".join(lines)


def readme(manifest, path):
    begin, end = "<!-- settings -->", "<!-- /settings -->"
    text = path.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        sys.exit(f"{path}: expected one {begin} and one {end} behind it")
    head, rest = text.split(begin)
    return f"{head}{begin}\n{readme_table(manifest)}\n{end}{rest.split(end)[1]}"


def roff(text):
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


def man_section(manifest):
    lines = [".SH SETTINGS",
             roff(f"In vk_layer_settings.txt a setting is written {NAMESPACE}.name = value, in the environment "
                  f"{ENVIRONMENT}NAME=value.")]
    for setting in manifest.settings:
        lines += [".TP", f".B {roff(setting.key)}", roff(setting.description)]
        lines += [roff(f"Allowed: {setting.allowed()}. Default: {setting.default_for_people()}.")]
        for flag in setting.flags:
            lines += [".br", f".I {roff(flag['key'])}:", roff(flag["description"])]
    return "\n".join(lines) + "\n"


def android_properties(manifest):
    lines = [f"# System properties that VK_LAYER_ROBUST_cache reads: adb shell setprop {PROPERTY}<name> <value>", ""]
    for setting in manifest.settings:
        lines += [f"# {line}" for line in textwrap.wrap(setting.description, 100)]
        lines += [f"# Allowed: {setting.allowed()}.", f"{PROPERTY}{setting.key}={setting.android_default}", ""]
    return "\n".join(lines).rstrip() + "\n"


def outputs(arguments, manifest):
    """Pairs of path and content, for what was asked for."""
    if arguments.table:
        yield arguments.table / "settings_table.h", table_header(manifest)
        yield arguments.table / "settings_entries.h", table_entries(manifest)
    if arguments.explicit:
        yield arguments.explicit, loader_manifest(manifest, arguments.library, False)
    if arguments.implicit:
        yield arguments.implicit, loader_manifest(manifest, arguments.library, True)
    if arguments.sample:
        yield arguments.sample, sample(manifest)
    if arguments.readme:
        yield arguments.readme, readme(manifest, arguments.readme)
    if arguments.man:
        yield arguments.man, man_section(manifest)
    if arguments.android:
        yield arguments.android, android_properties(manifest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=pathlib.Path)
    parser.add_argument("--default-preset", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--library", default="./libVkLayer_robust_cache.so")
    for name in ("table", "explicit", "implicit", "sample", "readme", "man", "android"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    arguments = parser.parse_args()
    manifest = Manifest(arguments.manifest, arguments.default_preset)
    stale = []
    for path, text in outputs(arguments, manifest):
        if not arguments.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(str(path))
    if stale:
        sys.exit(f"stale, run {pathlib.Path(sys.argv[0]).name} without --check: {', '.join(stale)}")


if __name__ == "__main__":
    main()
