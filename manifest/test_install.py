#!/usr/bin/env python3
"""usage: test_install.py CMAKE INSTALL_SCRIPT LIBDIR DATADIR

Installs the manifests below several prefixes and checks that the library they name is where it gets installed: found
by the dynamic linker's search under /usr and /usr/local, and relative to the manifest elsewhere."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile


def installed_library_path(cmake, script, datadir, prefix, kind):
    with tempfile.TemporaryDirectory() as root:
        subprocess.run([cmake, f"-DCMAKE_INSTALL_PREFIX={prefix}", "-P", script], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "DESTDIR": root})
        folder = pathlib.PurePath(prefix, datadir, "vulkan", f"{kind}_layer.d")
        layer = json.loads(pathlib.Path(f"{root}{folder}/VkLayer_robust_cache.json").read_text())["layer"]
        assert ("enable_environment" in layer) == (kind == "implicit"), kind
        return folder, layer["library_path"]


def main():
    cmake, script, libdir, datadir = sys.argv[1:]
    name = "libVkLayer_robust_cache.so"
    for kind in ("explicit", "implicit"):
        for prefix in ("/usr", "/usr/local"):
            _, library = installed_library_path(cmake, script, datadir, prefix, kind)
            assert library == name, f"{prefix}: {library}"
        for prefix in ("/opt/robust", "/usr/lib32-test", "/home/user/.local"):
            folder, library = installed_library_path(cmake, script, datadir, prefix, kind)
            found = os.path.normpath(folder / library)
            assert "/" in library and found == os.path.join(prefix, libdir, name), f"{prefix}: {library}"


main()
