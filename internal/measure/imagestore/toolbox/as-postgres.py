#!/usr/bin/python3
"""Runs a program as the user postgres where this is root, else as it is.

as-postgres.py own DIRECTORY       makes a directory and gives it to that user
as-postgres.py run PROGRAM [ARGUMENT…]
"""

import os
import pwd
import sys


def main():
    verb, args = sys.argv[1], sys.argv[2:]
    root = os.geteuid() == 0
    user = pwd.getpwnam("postgres")
    if verb == "own":
        os.mkdir(args[0], 0o700)
        if root:
            os.chown(args[0], user.pw_uid, user.pw_gid)
        return
    if root:
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
    os.execv(args[0], args)


try:
    main()
except OSError as e:
    sys.exit(f"as-postgres: {e} (PostgreSQL refuses to run as root, and this container has no other user)")
