"""Runs one command and writes what it took to a file, as JSON.

Usage: measure.py FILE COMMAND [ARGUMENT...]
A process of its own, because the kernel counts the peak of whoever starts a program as the program's, and this one is
smaller than anything that is measured here.
"""

import os
import sys
import time

start = time.monotonic()
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
seconds = time.monotonic() - start
with open(sys.argv[1], "w") as file:
    file.write('{"seconds": %f, "cpu_seconds": %f, "peak_bytes": %d}\n'
               % (seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024))
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
