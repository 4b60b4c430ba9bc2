/*
 * hacc.c: the pattern of HACC-IO, the input and output of a cosmology code
 * (https://asc.llnl.gov/coral-benchmarks): each particle has nine variables of 38
 * bytes in all (seven floats, a 64-bit id and a 16-bit mask); a checkpoint writes
 * each rank's particles, one variable after the other, and a restart reads and
 * compares them. The particles are those of all ranks together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi.h"
#include "tests.h"

enum { PATH = 4096, VARIABLES = 9 };

static const int bytes_of[VARIABLES] = {4, 4, 4, 4, 4, 4, 4, 8, 2};

void hacc(const struct options *o)
{
	long mine = o->particles / mpi.size;
	if (mine < 1)
		wrong("--particles %ld are fewer than the ranks", o->particles);
	char path[PATH];
	int n = o->per_process ? snprintf(path, PATH, "%s/hacc.%d", o->dir, mpi.rank) : snprintf(path, PATH, "%s/hacc", o->dir);
	if (n >= PATH)
		wrong("--dir is too long");
	char *have[VARIABLES], *got = room(mine * 8, 0);
	for (int v = 0; v < VARIABLES; v++)
		have[v] = room(mine * bytes_of[v], mpi.rank * VARIABLES + v);
	double took[2];
	struct file f;
	for (int restart = 0; restart < 2; restart++) {
		mpi.Barrier(mpi.world);
		int64_t begin = now();
		if (!restart && !o->per_process && strcmp(o->api, "posix") == 0) {
			if (mpi.rank == 0) {
				file_open(&f, o, path, 1);
				file_close(&f);
			}
			mpi.Barrier(mpi.world);
		}
		file_open(&f, o, path, !restart);
		/* In a shared file a variable of all ranks lies together. */
		long long first = 0;
		for (int v = 0; v < VARIABLES; v++) {
			long size = mine * bytes_of[v];
			long long at = first + (o->per_process ? 0 : (long long)mpi.rank * size);
			first += o->per_process ? size : (long long)mpi.size * size;
			if (!restart) {
				file_write(&f, have[v], size, at);
				continue;
			}
			file_read(&f, got, size, at);
			if (memcmp(got, have[v], (size_t)size) != 0)
				wrong("variable %d read by the restart is not what the checkpoint wrote", v);
		}
		if (!restart && o->sync)
			file_sync(&f);
		file_close(&f);
		took[restart] = phase(begin);
	}
	mpi.Barrier(mpi.world);
	if ((o->per_process || mpi.rank == 0) && unlink(path) != 0)
		wrong("%s can't be removed", path);
	double bytes = (double)mine * mpi.size * 38;
	if (mpi.rank == 0)
		printf(",\"bytes\":%.0f,\"checkpoint_bytes_per_second\":%.3f,\"restart_bytes_per_second\":%.3f", bytes, bytes * 1e9 / took[0], bytes * 1e9 / took[1]);
}
