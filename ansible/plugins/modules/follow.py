#!/usr/bin/python
"""The far half of follow: says how a run is, and hands over what is new of its record.
The near half, which asks again and again, is the action plug-in of the same name."""

DOCUMENTATION = r"""
module: follow
short_description: Follow a run of Plimsoll, and fetch its record
description:
  - Follows what M(plimsoll.plimsoll.run) has begun until it has ended, and writes its record below
    O(output) on the control node. Trials arrive while the run goes on, so those of a host that dies
    are kept. At the end the SHA-256 of every file is checked.
  - A lost connection is tried again for O(lost_after) seconds.
  - A run that failed does not fail the task. How it ended is in RV(outcome).
author: The Plimsoll authors
options:
  directory:
    description: The folder of the run on the host.
    type: path
    required: true
  output:
    description: The directory on the control node that the record is written to. The log stands beside it.
    type: path
  every:
    description: Seconds from one look at the host to the next.
    type: float
    default: 5
  lost_after:
    description: Seconds for which a host is tried again that can't be reached.
    type: float
    default: 600
  have:
    description: Set by the plug-in itself. What has arrived already.
    type: dict
    default: {}
attributes:
  check_mode:
    support: full
    description: Nothing is fetched.
"""

EXAMPLES = r"""
- name: Follow the study
  plimsoll.plimsoll.follow:
    directory: /var/lib/plimsoll-ansible/nightly
    output: results/{{ inventory_hostname }}
  register: followed
"""

RETURN = r"""
outcome:
  description: C(done), C(some trials failed), C(interrupted), C(failed), C(lost) or C(absent).
  returned: always
  type: str
trials:
  description: How many trials are in the record on the control node.
  returned: always
  type: int
said:
  description: The last line that the run printed, or what is in the way.
  returned: always
  type: str
"""

import base64
import fcntl
import hashlib
import os

from ansible.module_utils.basic import AnsibleModule

AT_ONCE = 4 << 20
GROWING = ("log", "record/trials.jsonl")  # what is only ever appended to
LIVE = ("log", "record/run.json", "record/trials.jsonl")
NOT_SENT = (".lock", "report.html")  # a page is made where it is read


def runs(directory):
    try:
        with open(os.path.join(directory, "process"), encoding="utf-8") as f:
            fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def names(directory):
    """All files of the record, the log first."""
    yield "log"
    for where, folders, files in os.walk(os.path.join(directory, "record")):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(where, name)
            if name not in NOT_SENT and os.path.isfile(path) and not os.path.islink(path):
                yield os.path.relpath(path, directory)


def part(path, name, had, room):
    """What is new of a file: its next piece, and how large it is in all."""
    info = os.stat(path)
    stamp = "%d" % info.st_mtime_ns
    offset = had.get("size", 0)
    if name not in GROWING and had.get("stamp") != stamp or offset > info.st_size:
        offset = 0
    if offset == info.st_size and had.get("stamp", stamp if name in GROWING else "") == stamp:
        return None
    with open(path, "rb") as f:
        f.seek(offset)
        data = f.read(min(room, info.st_size - offset))
    return {"name": name, "offset": offset, "stamp": stamp, "data": base64.b64encode(data).decode(), "left": info.st_size - offset - len(data)}


def digest(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        for piece in iter(lambda: f.read(1 << 20), b""):
            h.update(piece)
    return h.hexdigest()


def look(directory, have):
    if not os.path.isdir(directory):
        return {"there": False}
    going = runs(directory)  # before the look: what was written till then is seen by it
    wanted = list(LIVE) if going else list(names(directory))
    parts, room, whole = [], AT_ONCE, True
    for name in wanted:
        path = os.path.join(directory, name)
        try:
            p = part(path, name, have.get(name, {}), room)
        except FileNotFoundError:
            continue
        if p is None:
            continue
        parts.append(p)
        room -= len(p["data"]) * 3 // 4
        if p["left"] > 0 or room <= 0:
            whole = False
            break
    end = ""
    try:
        with open(os.path.join(directory, "end"), encoding="utf-8") as f:
            end = f.read().strip()
    except OSError:
        pass
    answer = {"there": True, "going": going, "end": end, "parts": parts, "whole": whole}
    if not going and whole:
        answer["sums"] = {n: digest(os.path.join(directory, n)) for n in wanted if os.path.isfile(os.path.join(directory, n))}
    return answer


def main():
    module = AnsibleModule(
        argument_spec={
            "directory": {"type": "path", "required": True},
            "output": {"type": "path"},
            "every": {"type": "float", "default": 5},
            "lost_after": {"type": "float", "default": 600},
            "have": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    module.exit_json(changed=False, look=look(module.params["directory"], module.params["have"]))


if __name__ == "__main__":
    main()
