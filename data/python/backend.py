"""Builds the wheel (PEP 517), from nothing but Python: the same bytes each time.

usage: python3 backend.py FOLDER        writes the wheel there and prints its name
"""
import base64
import hashlib
import os
import re
import sys
import tarfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Of all files, so that two builds are equal; 1980 is the first year of a zip file.
EPOCH = max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800)


def read(name):
    with open(os.path.join(HERE, name), "rb") as f:
        return f.read()


def version():
    return re.search(r'^__version__ = "(.*)"$', read("ninodes/__init__.py").decode(), re.M)[1]


def metadata():
    """The core metadata, of what pyproject.toml says; tomllib is too young for Python 3.9."""
    told = dict(re.findall(r'^([a-z-]+) = "(.*)"$', read("pyproject.toml").decode(), re.M))
    lines = ["Metadata-Version: 2.1", f"Name: {told['name']}", f"Version: {version()}", f"Summary: {told['description']}",
             "License: MIT", f"Requires-Python: {told['requires-python']}", "Provides-Extra: numpy",
             'Requires-Dist: numpy; extra == "numpy"', "Description-Content-Type: text/markdown", "", ""]
    return "\n".join(lines).encode() + read("README.md")


def sources():
    return sorted(f"ninodes/{n}" for n in os.listdir(os.path.join(HERE, "ninodes")) if n.endswith((".py", ".typed")))


def info():
    return f"ninodes-{version()}.dist-info"


WHEEL = b"Wheel-Version: 1.0\nGenerator: ninodes\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"ninodes-{version()}-py3-none-any.whl"
    files = [(n, read(n)) for n in sources()]
    licence = os.path.join(HERE, "../../LICENSE")  # not in a copy of this folder alone
    if os.path.exists(licence):
        files.append((f"{info()}/LICENSE", read(licence)))
    files += [(f"{info()}/METADATA", metadata()), (f"{info()}/WHEEL", WHEEL)]
    record = "".join("%s,sha256=%s,%d\n" % (n, base64.urlsafe_b64encode(hashlib.sha256(d).digest()).decode().rstrip("="), len(d))
                     for n, d in files)
    files.append((f"{info()}/RECORD", (record + f"{info()}/RECORD,,\n").encode()))
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as z:
        for n, d in files:
            entry = zipfile.ZipInfo(n, time.gmtime(EPOCH)[:6])
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, d)
    return name


def build_sdist(sdist_directory, config_settings=None):
    name = f"ninodes-{version()}"
    with tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz") as t:
        for n in [*sources(), "backend.py", "pyproject.toml", "README.md"]:
            t.add(os.path.join(HERE, n), f"{name}/{n}")
    return name + ".tar.gz"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
