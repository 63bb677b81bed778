"""scrub.py SOURCE TARGET [OLD=NEW ...]: copy a report without facts about the machine that ran it.

Paths are replaced wherever they stand, short words only as a whole attribute value. Nothing else is
touched, so the structure stays as the producer wrote it.
"""

import getpass
import os
import pathlib
import platform
import socket
import sys


def main(source, target, *pairs):
    paths = dict(pair.split("=", 1) for pair in pairs)
    paths |= {sys.base_prefix: "/usr", str(pathlib.Path.home()): "/home/ci"}
    words = {
        socket.getfqdn(): "ci-host",
        socket.gethostname(): "ci-host",
        getpass.getuser(): "ci",
        platform.release(): "6.1.0",
    }
    data = pathlib.Path(source).read_bytes()
    for old in sorted(paths, key=len, reverse=True):
        data = data.replace(os.fsencode(old), os.fsencode(paths[old]))
    for old, new in words.items():
        for quote in "\"'":
            data = data.replace(f"={quote}{old}{quote}".encode(), f"={quote}{new}{quote}".encode())
    pathlib.Path(target).write_bytes(data)


main(*sys.argv[1:])
