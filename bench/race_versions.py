"""Versions of what a Python has for a race; and, as a program of its own, what each takes on the disk."""
import importlib.metadata
import json
import os
import platform
import re
import sys

# What goes without saying in a package's own list.
BESIDE = {"torch_geometric": ["torch"]}
PACKAGES = ["torch", "torch_geometric", "optuna", "scikit-network"]


def main():
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"no {name}")
    try:
        import torch

        found.append("MKL" if torch.backends.mkl.is_available() else "torch without MKL")
        if torch.cuda.is_available():
            found.append(f"GPU {torch.cuda.get_device_name(0)}, CUDA {torch.version.cuda}")
    except ImportError:
        pass
    print(", ".join(found))


def needed(name, seen):
    """The distributions that one needs, itself among them, by what their metadata say for this machine."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in seen:
        return
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return  # for another machine, or an extra
    seen[key] = distribution
    for requirement in distribution.requires or []:
        if "extra ==" not in requirement:
            needed(re.match(r"[A-Za-z0-9._-]+", requirement).group(), seen)


def bytes_of(distribution):
    paths = (distribution.locate_file(file) for file in distribution.files or [])
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))


def sizes():
    """For each package: bytes with all that it needs, and how many of them are for a GPU."""
    result = {}
    for name in PACKAGES:
        parts = {}
        needed(name, parts)
        if parts:
            for other in BESIDE.get(name, []):
                needed(other, parts)
            each = {key: bytes_of(distribution) for key, distribution in parts.items()}
            gpu = sum(size for key, size in each.items() if key.startswith(("nvidia", "cuda", "triton")))
            result[name] = {"all": sum(each.values()), "gpu": gpu}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    sizes()
