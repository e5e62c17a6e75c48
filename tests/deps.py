#!/usr/bin/env python3
"""What the programs are linked with, against the Makefile's list of packages and data/licences.txt.

deps.py check BUILD PACKAGE...   every library that is linked or loaded is of a package of the list, or of one that such a
                                 package needs, and its licence is known; exit status 1 and a line for each that is not
deps.py sbom BUILD PACKAGE...    the same as a bill of materials, SPDX 2.3 as JSON, on stdout

Facts are those of this machine's Debian packages (dpkg, readelf, ldconfig).
"""
import datetime
import glob
import hashlib
import json
import os
import re
import subprocess
import sys

PROGRAMS = ["ninodes", "libninodes.so", "ninodes-studio"]
SYSTEM = {"glibc"}  # of every program


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def needed(build):
    """Library -> who wants it: what is linked, and what the sources load by name."""
    who = {}
    for name in PROGRAMS:
        path = os.path.join(build, name)
        if os.path.exists(path):
            for lib in re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", path)):
                if not lib.startswith("libninodes"):
                    who.setdefault(lib, set()).add(name)
    for path in glob.glob("c[ol]*/**/*.c", recursive=True):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for lib in re.findall(r'"(lib[\w+-]+\.so[.\d]*)"', text) + [
                "lib%s.so." % name for name in re.findall(r'SONAME\("(\w+)"', text)]:
            who.setdefault(lib, set()).add(path)
    return who


def packages_of(libs):
    """Library -> (package, source package, version); a library that no package holds is left out."""
    places = {}
    for line in output("/sbin/ldconfig", "-p").splitlines():
        words = line.split()
        for lib in libs:  # one that ends with a point comes in the version of the headers
            if len(words) > 3 and (words[0] == lib or (lib[-1] == "." and words[0].startswith(lib))):
                places.setdefault(lib, words[-1])
    found = {}
    for lib, place in places.items():
        names = [os.path.realpath(place), place, place.replace("/usr", "", 1), "/usr" + place]
        owner = next((o for n in names for o in output("dpkg", "-S", n).splitlines() if o), None)
        if owner:
            package = owner.split(":")[0].split(",")[0]
            found[lib] = (package, *facts(package))
    return found


def facts(package):
    words = output("dpkg-query", "-W", "-f=${source:Package} ${Version}\n", package).split("\n")[0].split()
    return (words[0], words[1]) if len(words) == 2 else ("", "")


def sources_of_list(packages):
    """Source packages of the list and of what its packages name in Depends."""
    names = set(packages)
    for line in output("dpkg-query", "-W", "-f=${Depends}\n", *packages).splitlines():
        names |= {re.split(r"[ (:]", d.strip())[0] for d in re.split(r"[,|]", line)}
    lines = output("dpkg-query", "-W", "-f=${source:Package}\n", *sorted(n for n in names if n))
    return set(lines.split())


def licences():
    rows = {}
    with open("data/licences.txt", encoding="utf-8") as f:
        for line in f:
            if line.strip() and line[0] != "#":
                name, _, spdx = line.strip().partition(" ")
                rows[name] = spdx.strip()
    return rows


def check(build, packages):
    who, known, listed = needed(build), licences(), sources_of_list(packages)
    found, bad = packages_of(who), []
    for lib in sorted(who):
        wanted = ", ".join(sorted(who[lib]))
        if lib not in found:
            bad.append("%s (%s): of no Debian package here" % (lib, wanted))
            continue
        package, source, _ = found[lib]
        if source not in listed | SYSTEM:
            bad.append("%s (%s): package %s is not in the Makefile's list" % (lib, wanted, package))
        if source not in known:
            bad.append("%s: no licence of %s in data/licences.txt" % (lib, source))
    used = {found[lib][1] for lib in found}
    if len(used) > 20:  # a whole build
        bad += ["data/licences.txt: nothing is linked with %s" % s for s in sorted(set(known) - used)]
    print("\n".join(bad) if bad else "%d libraries of %d source packages: all in the list, licences known" % (len(found), len(used)))
    return 1 if bad else 0


def sbom(build, packages):
    who, known = needed(build), licences()
    version = re.search(r"^VERSION := (\S+)", open("Makefile", encoding="utf-8").read(), re.M)[1]
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct") or 0)
    things = [{"SPDXID": "SPDXRef-ninodes", "name": "ninodes", "versionInfo": version, "downloadLocation": "NOASSERTION",
               "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
               "copyrightText": "NOASSERTION", "primaryPackagePurpose": "APPLICATION"}]
    links = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-ninodes"}]

    def thing(package, source, number, kind):
        ref = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", package)
        if any(t["SPDXID"] == ref for t in things):
            return
        spdx = known.get(source, "NOASSERTION")
        things.append({"SPDXID": ref, "name": package, "versionInfo": number, "sourceInfo": "Debian source package " + source,
                       "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
                       "licenseDeclared": spdx, "copyrightText": "NOASSERTION",
                       "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                         "referenceLocator": "pkg:deb/debian/%s@%s" % (package, number.replace(":", "%3A"))}]})
        links.append({"spdxElementId": "SPDXRef-ninodes" if kind == "DEPENDS_ON" else ref, "relationshipType": kind,
                      "relatedSpdxElement": ref if kind == "DEPENDS_ON" else "SPDXRef-ninodes"})

    for package, source, number in sorted(set(packages_of(who).values())):
        thing(package, source, number, "DEPENDS_ON")
    for package in sorted(set(packages)):
        source, number = facts(package)
        if number:
            thing(package, source, number, "BUILD_DEPENDENCY_OF")
    body = json.dumps([things, links], sort_keys=True)
    name = "ninodes-%s-%s" % (version, hashlib.sha256(body.encode()).hexdigest()[:16])
    json.dump({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
               "documentNamespace": "https://spdx.org/spdxdocs/" + name,
               "creationInfo": {"created": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                                "creators": ["Tool: ninodes-make-sbom"]},
               "packages": things, "relationships": links}, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("check", "sbom"):
        sys.exit(__doc__)
    sys.exit((check if sys.argv[1] == "check" else sbom)(sys.argv[2], sys.argv[3:]))
