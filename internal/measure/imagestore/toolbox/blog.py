#!/usr/bin/python3
"""The load of a busy web log on a file system, as BlogBench has it.

blog.py DIRECTORY SECONDS [WRITERS REWRITERS COMMENTERS READERS]

Each of the processes repeats its own work until the time is over: a writer
makes entries (a directory with an article and two pictures, each written under
another name and then renamed) and removes its oldest beyond 300, so that all
take about 100 MB however long it works; a rewriter replaces articles, a commenter
appends to comments, and a reader reads whole files of entries taken at random.
What was written or read counts by its pieces of 8 KiB, so that both numbers
are work done and not files. Prints one JSON document.
"""

import errno
import json
import os
import random
import sys
import time

PIECE = 8192
KEPT = 300
GONE = (errno.ENOENT, errno.ENOTDIR)


def put(path, pieces, data):
    """Writes a file under another name and puts it in place; gives the pieces."""
    temporary = f"{path}.{os.getpid()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for _ in range(pieces):
        if os.write(fd, data) != len(data):
            raise OSError(errno.ENOSPC, "a short write")
    os.close(fd)
    os.rename(temporary, path)
    return pieces


def entries(top):
    """Where an entry is likely to be: the numbers are dense, by writer."""
    return [os.path.join(top, name) for name in os.listdir(top)]


def remove(entry):
    """Removes an entry, into which others may be writing still."""
    while True:
        try:
            for name in os.listdir(entry):
                try:
                    os.unlink(os.path.join(entry, name))
                except FileNotFoundError:
                    pass
            os.rmdir(entry)
            return
        except OSError as e:
            if e.errno != errno.ENOTEMPTY:
                raise


def writer(top, me, rng, data, until):
    done = n = 0
    while time.monotonic() < until:
        entry = os.path.join(top, f"{me}-{n}")
        os.mkdir(entry)
        done += put(os.path.join(entry, "article"), rng.randint(1, 4), data)
        for k in range(2):
            done += put(os.path.join(entry, f"picture-{k}"), rng.randint(1, 8), data)
        n += 1
        if n > KEPT:
            remove(os.path.join(top, f"{me}-{n - KEPT - 1}"))
    return done


def existing(top, rng, work, until):
    """Repeats work on entries taken at random."""
    done, known, looked = 0, [], 0.0
    while (now := time.monotonic()) < until:
        if not known or now > looked + 0.25:
            known, looked = entries(top), now
            if not known:
                time.sleep(0.001)
                continue
        try:
            done += work(rng.choice(known))
        except OSError as e:
            if e.errno not in GONE:  # it may not be complete yet
                raise
    return done


def rewriter(top, me, rng, data, until):
    return existing(top, rng, lambda e: put(os.path.join(e, "article"), rng.randint(1, 4), data), until)


def commenter(top, me, rng, data, until):
    def work(entry):
        fd = os.open(os.path.join(entry, "comments"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(fd, data[:PIECE // 8])
        os.close(fd)
        return 1

    return existing(top, rng, work, until)


def reader(top, me, rng, data, until):
    def work(entry):
        pieces = 0
        for name in os.listdir(entry):
            fd = os.open(os.path.join(entry, name), os.O_RDONLY)
            while os.read(fd, PIECE):
                pieces += 1
            os.close(fd)
        return pieces

    return existing(top, rng, work, until)


def main():
    top, seconds = sys.argv[1], float(sys.argv[2])
    counts = [int(a) for a in sys.argv[3:7]] or [3, 1, 1, 8]
    os.mkdir(top)
    data = random.Random(1).randbytes(PIECE)
    kinds = [(writer, "writes"), (rewriter, "writes"), (commenter, "writes"), (reader, "reads")]
    begin = time.monotonic()
    children = []
    for (work, kind), count in zip(kinds, counts):
        for i in range(count):
            r, w = os.pipe()
            if pid := os.fork():
                os.close(w)
                children.append((pid, r, kind))
                continue
            try:
                done = work(top, f"{len(children)}", random.Random(len(children)), data, begin + seconds)
                os.write(w, str(done).encode())
                os._exit(0)
            except OSError as e:
                os.write(2, f"blog: {work.__name__}: {e}\n".encode())
                os._exit(1)
    total, failed = {"writes": 0, "reads": 0}, 0
    for pid, r, kind in children:
        failed += os.waitpid(pid, 0)[1] != 0
        total[kind] += int(os.read(r, 64) or b"0")
    took = time.monotonic() - begin
    if failed:
        sys.exit(f"blog: {failed} of {len(children)} processes failed")
    json.dump({"seconds": took, "writes": total["writes"] / took, "reads": total["reads"] / took}, sys.stdout)
    print()


main()
