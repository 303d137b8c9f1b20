"""What the tests of containers share: images with sluice's package, kept for the next time, and podman on a machine that
may be a container itself."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from fleet import PROGRAMS, ROOT, in_own_namespaces, skip

CONTAINER = ROOT / "deploy" / "container"
PACKAGES = PROGRAMS.parent / "packages"
BARE = ROOT / "build" / "bare-debian-12"  # As scripts/package --check leaves it.
STORE = ROOT / "build" / "engine-containers"
NOBODY = 65532
# What a container may have on a machine that does not let its limits be raised, or has cgroups of two kinds.
PODMAN = ["podman", "--cgroup-manager=cgroupfs", "--storage-driver=vfs", f"--root={STORE}/graph", f"--runroot={STORE}/run"]
LIMITS = ["--cgroups=disabled", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"]


def podman(*arguments, **options):
    return subprocess.run([*PODMAN, *map(str, arguments)], capture_output=True, text=True, **options)


def ip(*arguments):
    subprocess.run(["ip", *map(str, arguments)], check=True)


def add_bridge():
    """What joins the networks of containers; the test is 10.99.0.1 on it."""
    ip("link", "add", "pods", "type", "bridge")
    ip("addr", "add", "10.99.0.1/24", "dev", "pods")
    ip("link", "set", "pods", "up")


def add_network(name, last):
    """The network of a container, 10.99.0.LAST, as podman's flag."""
    ip("netns", "add", name)
    ip("-n", name, "link", "set", "lo", "up")
    ip("link", "add", f"v{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
    ip("link", "set", f"v{name}", "master", "pods", "up")
    ip("-n", name, "addr", "add", f"10.99.0.{last}/24", "dev", "eth0")
    ip("-n", name, "link", "set", "eth0", "up")
    return f"--network=ns:/run/netns/{name}"


def package():
    """sluice's .deb, or the test is skipped."""
    packages = sorted(PACKAGES.glob("sluice_*.deb"))
    if not packages:
        skip(f"there is no {PACKAGES}/sluice_*.deb (scripts/package)")
    return packages[-1]


def bare_debian():
    """Skips the test if there is no BARE."""
    if not (BARE / "made").exists():
        skip(f"there is no bare Debian in {BARE} (scripts/package --check makes one)")


def name_of(image, *sources):
    return f"{image}:" + hashlib.sha256(b"".join(one.read_bytes() for one in sources)).hexdigest()[:16]


def built_image(containerfile):
    """The image of this package and file; built if it is not there yet."""
    base, tag = name_of("bare", package()), name_of("sluice", package(), containerfile)
    if podman("image", "exists", tag).returncode == 0:
        return tag
    if podman("image", "exists", base).returncode != 0:
        bare_debian()
        shutil.rmtree(STORE, ignore_errors=True)  # Of the package before.
        STORE.mkdir(parents=True)
        archive = subprocess.Popen(["tar", "-C", BARE, "-c", "."], stdout=subprocess.PIPE)
        made = subprocess.run([*PODMAN, "import", "-q", "-", base], stdin=archive.stdout, capture_output=True, text=True)
        if archive.wait() != 0 or made.returncode != 0:
            skip(f"podman keeps no images here: {made.stderr}")
    done = podman("build", "-q", "--isolation=chroot", "--network=host", "--format=docker", "--build-arg", f"BASE={base}",
                  "-f", containerfile, "-t", tag, PACKAGES)
    if done.returncode != 0:
        sys.exit(f"the image cannot be built: {done.stdout}{done.stderr}")
    return tag


def in_a_machine_of_its_own(**more):
    """Starts the test again in namespaces of its own, with the image in SLUICE_TEST_IMAGE, or skips it. `more`: other
    variables and the Containerfiles of their images."""
    if os.geteuid() != 0:
        skip("containers on networks of their own take root")
    for variable, containerfile in {"SLUICE_TEST_IMAGE": CONTAINER / "Containerfile", **more}.items():
        if variable not in os.environ:
            os.environ[variable] = built_image(containerfile)
    in_own_namespaces("--net")
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)  # Of the namespaces' names.
    # crun takes no cgroups of two kinds at a time.
    if Path("/sys/fs/cgroup/unified").is_dir():
        subprocess.run(["umount", "/sys/fs/cgroup/unified"], check=True)
    podman("rm", "--force", "--all")  # Of a test that was killed.
