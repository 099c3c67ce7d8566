"""Builds the stand-in for the CUDA runtime (cuda.c) for an installed PyTorch: `python3 build.py TORCH/lib DIRECTORY`.

Needs gcc, nm and readelf. The installed wheel is not changed: LD_LIBRARY_PATH=DIRECTORY makes it load the stand-in.
"""

import collections
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).with_name("cuda.c")
OF_NVIDIA = re.compile(r"lib(cu|nv|nccl)")


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def wanted(torch_lib):
    """Symbols by the library that must have them, and those that no library is named for."""
    needed, versioned, free, defined = set(), collections.defaultdict(set), set(), set()
    for library in pathlib.Path(torch_lib).glob("*.so*"):
        needed.update(re.findall(r"NEEDED.*\[(.+)\]", said("readelf", "-d", str(library))))
        for line in said("nm", "-D", str(library)).splitlines():
            kind, symbol = line.split()[-2:]
            name, *version = re.split("@+", symbol)
            if kind not in "Uw":
                defined.add(name)
            elif version:
                versioned[version[0]].add(name)
            else:
                free.add(name)
    there = {path.name for path in pathlib.Path(torch_lib).iterdir()}
    needed = {name for name in needed - there if OF_NVIDIA.match(name)}
    free = {name for name in free - defined if re.match(r"_*(cu|nv|nccl)", name)}
    # A version is called like its library, or like what the library is called after.
    library_of = {
        version: next((name for name in needed if version.lower() in name.lower()), None) for version in versioned
    }
    return needed, {version: versioned[version] for version, name in library_of.items() if name}, library_of, free


def build(torch_lib, directory):
    """Writes the libraries that PyTorch's do not find on this machine."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    own = set(re.findall(r"^(?:int|char|void \*\*|const char \*)\s*\*?(\w+)\(", SOURCE.read_text(), re.MULTILINE))
    needed, versioned, library_of, free = wanted(torch_lib)
    runtime = next(name for name in needed if name.startswith("libcudart"))
    for library in needed:
        nodes = [version for version in versioned if library_of[version] == library]
        symbols = set().union(*(versioned[version] for version in nodes))
        is_runtime = library == runtime
        # Symbols without a version are looked up in any library, or by name in one that has no versions.
        symbols |= free if is_runtime or not nodes else set()
        # Functions of several libraries stand in cuda.c; each library has its own.
        lines = [f"#define {name} other_{name}" for name in sorted(own - symbols) if not is_runtime]
        lines += [f'#include "{SOURCE}"']
        lines += [f"int {name}() {{ return 0; }}" for name in sorted(symbols - own) if not name.startswith("_Z")]
        source = directory / f"{library}.c"
        source.write_text("\n".join(lines) + "\n")
        command = ["gcc", "-w", "-O1", "-fPIC", "-shared", "-fno-builtin", "-o", str(directory / library), str(source)]
        command += [f"-Wl,-soname,{library}"]
        if nodes:
            versions = directory / f"{library}.map"
            versions.write_text("".join(f"{node} {{ global: *; }};\n" for node in nodes))
            command += [f"-Wl,--version-script={versions}"]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    build(*sys.argv[1:])
