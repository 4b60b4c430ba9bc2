/*
 * ior.c: IOR's pattern (https://ior.readthedocs.io). Each rank writes a block, in
 * pieces of the size of a transfer, for each segment; in a shared file the blocks
 * of a segment lie side by side in the order of the ranks, else each rank has a
 * file. Then each rank reads what the next one has written (IOR's -C), so that
 * its own node's cache does not answer where there are several, and looks whether
 * it is right. A phase lasts from the barrier before the open to the last rank's
 * close.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi.h"
#include "tests.h"

enum { PATH = 4096 };

static void path_of(char *path, const struct options *o, const char *name, int rank)
{
	int n = o->per_process ? snprintf(path, PATH, "%s/%s.%d", o->dir, name, rank) : snprintf(path, PATH, "%s/%s", o->dir, name);
	if (n >= PATH)
		wrong("--dir is too long");
}

/* at is where a piece lies that belongs to a rank. */
static long long at(const struct options *o, long segment, int rank, long piece)
{
	long long first = o->per_process ? segment * (long long)o->block : (segment * (long long)mpi.size + rank) * o->block;
	return first + (long long)piece * o->transfer;
}

/* stamp makes a piece one that tells rank, segment and place. */
static void stamp(char *piece, long size, int rank, long segment, long k)
{
	long long mark[3] = {rank, segment, k};
	for (long i = 0; i + (long)sizeof mark <= size; i += 4096)
		memcpy(piece + i, mark, sizeof mark);
}

void ior(const struct options *o)
{
	if (o->transfer < 1 || o->block < o->transfer || o->block % o->transfer != 0 || o->segments < 1)
		wrong("--block must be a multiple of --transfer");
	long pieces = o->block / o->transfer;
	char path[PATH], *buffer = room(o->transfer, 3), *want = room(o->transfer, 3);
	struct file f;

	path_of(path, o, "ior", mpi.rank);
	mpi.Barrier(mpi.world);
	int64_t begin = now();
	/* One makes the shared file, so that the others find it. */
	if (!o->per_process && strcmp(o->api, "posix") == 0) {
		if (mpi.rank == 0) {
			file_open(&f, o, path, 1);
			file_close(&f);
		}
		mpi.Barrier(mpi.world);
	}
	file_open(&f, o, path, 1);
	for (long s = 0; s < o->segments; s++)
		for (long k = 0; k < pieces; k++) {
			stamp(buffer, o->transfer, mpi.rank, s, k);
			file_write(&f, buffer, o->transfer, at(o, s, mpi.rank, k));
		}
	if (o->sync)
		file_sync(&f);
	file_close(&f);
	double wrote = phase(begin);

	int other = (mpi.rank + 1) % mpi.size;
	path_of(path, o, "ior", other);
	mpi.Barrier(mpi.world);
	begin = now();
	file_open(&f, o, path, 0);
	for (long s = 0; s < o->segments; s++)
		for (long k = 0; k < pieces; k++) {
			file_read(&f, buffer, o->transfer, at(o, s, other, k));
			stamp(want, o->transfer, other, s, k);
			if (memcmp(buffer, want, (size_t)o->transfer) != 0)
				wrong("what is read of rank %d's segment %ld is not what was written", other, s);
		}
	file_close(&f);
	double read = phase(begin);

	path_of(path, o, "ior", mpi.rank);
	mpi.Barrier(mpi.world);
	if ((o->per_process || mpi.rank == 0) && unlink(path) != 0)
		wrong("%s can't be removed", path);
	double bytes = (double)o->block * (double)o->segments * mpi.size;
	if (mpi.rank == 0)
		printf(",\"bytes\":%.0f,\"write_bytes_per_second\":%.3f,\"read_bytes_per_second\":%.3f", bytes, bytes * 1e9 / wrote, bytes * 1e9 / read);
}
