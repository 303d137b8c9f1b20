"""A Debian that systemd boots as its first process: sluice's package in a tree of its own, in namespaces of its own. Its
files are gone with it, and of the machine around it it sees the network of the test alone. A group of processes that a
killed test leaves is removed by the next one."""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from containers import BARE, bare_debian, package
from fleet import ROOT, skip, wait_for

STORE = ROOT / "build" / "engine-machine"
CLEAN = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
BOOT = r"""
set -eu
mount -t tmpfs none "$2"
mkdir "$2/above" "$2/work" "$2/root"
mount -t overlay -o "lowerdir=$1,upperdir=$2/above,workdir=$2/work" none "$2/root"
cd "$2/root"
mount -t proc none proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro none sys
mount -t cgroup2 none sys/fs/cgroup
for folder in dev run tmp; do mount -t tmpfs -o mode=755 none $folder; done
chmod 1777 tmp
for device in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "dev/${device%:*}" c 1 "${device#*:}"; done
mknod -m 666 dev/tty c 5 0
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 none dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
echo gpu-7 >etc/hostname
# From here on nothing around it is in reach: systemd begins by emptying /tmp.
pivot_root . mnt
umount -l mnt
cd /
[ ! -e /mnt/tmp ]
# Credentials are mounted by a child of systemd, for all to see.
mount --make-rshared /
echo "the machine is made"
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin setpriv \
  --bounding-set=-sys_module,-sys_time,-sys_rawio /lib/systemd/systemd --system --show-status=no
"""


def tree():
    """A bare Debian with systemd and this package; kept for the next time."""
    deb = package()
    made = STORE / hashlib.sha256(deb.read_bytes()).hexdigest()[:16]
    if made.exists():
        return made
    bare_debian()
    shutil.rmtree(STORE, ignore_errors=True)
    STORE.mkdir(parents=True)
    new = STORE / "new"
    subprocess.run(["cp", "-a", BARE, new], check=True)
    shutil.copy(deb, new / "root" / "sluice.deb")
    shutil.copy("/etc/resolv.conf", new / "etc" / "resolv.conf")
    for proxy in Path("/etc/apt/apt.conf.d").glob("*proxy*"):
        shutil.copy(proxy, new / "etc" / "apt" / "apt.conf.d")
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", "systemd", "/root/sluice.deb"]):
        done = subprocess.run(["unshare", "--fork", "--pid", f"--mount-proc={new}/proc", "chroot", new, *CLEAN, *command],
                              capture_output=True, text=True)
        if done.returncode != 0:
            skip(f"systemd cannot be installed in a bare Debian: {done.stderr.strip().splitlines()[-1:]}")
    new.rename(made)
    return made


def remove_group(top):
    """Groups can be removed once their processes are gone. False as long as one is not."""
    try:
        for group in (*sorted(top.rglob("*/"), reverse=True), top):
            group.rmdir()
    except OSError:
        return False
    return True


class Machine:
    """Runs from its start to the end of the test's namespaces."""

    def __init__(self, bench, made):
        self.group = self.own_group()
        folder = bench.folder / "machine"
        folder.mkdir()
        # It enters a group of processes first, which is the top of all that it sees.
        enter = f"echo $$ >{self.group}/cgroup.procs && exec \"$@\""
        self.bench = bench
        self.process = bench.start("machine", [
            "bash", "-c", enter, "enter", "unshare", "--fork", "--kill-child", "--pid", "--mount", "--ipc", "--uts", "--cgroup",
            "bash", "-c", BOOT, "boot", made, folder])

    def start(self):
        """Waits until it is up, or skips the test where no machine can be made. REQUIRES: `end` is called whatever comes
        of it."""
        self.first = wait_for(self.child, f"it does not start: {self.bench.log('machine')}")
        wait_for(self.is_up, "systemd does not come up")

    @staticmethod
    def own_group():
        """A new group of processes under that of the test."""
        top = Path("/sys/fs/cgroup")  # Whatever is there: the test has mounts of its own.
        if subprocess.run(["mount", "-t", "cgroup2", "none", top], capture_output=True).returncode != 0:
            skip("there are no cgroups of version 2 here")
        mine = next(line for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
        here = top / mine[len("0::"):].strip("/")
        for left in here.glob("sluice-machine-*"):
            remove_group(left)
        try:
            return Path(tempfile.mkdtemp(prefix="sluice-machine-", dir=here))
        except OSError as error:
            skip(f"no group of processes can be made here: {error}")

    def child(self):
        if self.process.poll() is not None:
            said = self.bench.log("machine")
            assert "the machine is made" not in said, f"it ended with {self.process.returncode}: {said}"
            self.end()
            skip(f"a machine of its own cannot be made here: {said.strip().splitlines()[-1:]}")
        child = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().strip()
        # Before that it still has the files of the machine around it.
        return child if child and Path(f"/proc/{child}/comm").read_text().strip() == "systemd" else None

    def is_up(self):
        assert self.process.poll() is None, f"it ended with {self.process.returncode}"
        said = self.run("systemctl is-system-running", check=False).stdout.strip()
        return said in ("running", "degraded")

    def run(self, script, check=True, **options):
        """A shell of root's in it."""
        done = subprocess.run(["nsenter", f"--target={self.first}", "--pid", "--mount", "--ipc", "--uts", "--cgroup", *CLEAN,
                               "sh", "-euc", f"cd /root\n{script}"], capture_output=True, text=True, **options)
        if check and done.returncode != 0:
            raise AssertionError(f"{script} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def write(self, path, text):
        self.run(f"mkdir -p \"$(dirname '{path}')\" && cat >'{path}'", input=text)

    def show(self, unit, *properties):
        """What systemd knows of a unit, by property."""
        said = self.run(f"systemctl show --property={','.join(properties)} {unit}").stdout
        return dict(line.split("=", 1) for line in said.splitlines())

    def end(self):
        self.process.kill()
        self.process.wait()
        wait_for(lambda: remove_group(self.group), "a process of the machine stays")
