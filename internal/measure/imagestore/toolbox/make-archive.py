#!/usr/bin/python3
"""Write an uncompressed tar archive of files with random content.

usage: make-archive.py FILE COUNT BYTES

A hundred files lie in each directory. The content is the same every time.
"""

import io
import random
import sys
import tarfile


def main():
    count, size = int(sys.argv[2]), int(sys.argv[3])
    source = random.Random(count)
    with tarfile.open(sys.argv[1], "w", format=tarfile.USTAR_FORMAT) as archive:
        for i in range(count):
            if i % 100 == 0:
                directory = tarfile.TarInfo("%06d" % (i // 100))
                directory.type, directory.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(directory)
            file = tarfile.TarInfo("%06d/%02d" % (i // 100, i % 100))
            file.size = size
            archive.addfile(file, io.BytesIO(source.randbytes(size)))


main()
