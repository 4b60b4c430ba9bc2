/*
 * metadata.c: mdtest's pattern (https://github.com/hpc/ior): each rank creates
 * empty files in a directory of its own, then looks at those of the next rank
 * (so that its own node's cache does not answer), then removes its own. A rate is
 * the files of all ranks by the time between two barriers, as mdtest counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi.h"
#include "tests.h"

enum { PATH = 4096 };

static void name_of(char *path, const struct options *o, int rank, long i)
{
	int n = i < 0 ? snprintf(path, PATH, "%s/metadata.%d", o->dir, rank) : snprintf(path, PATH, "%s/metadata.%d/file.%ld", o->dir, rank, i);
	if (n >= PATH)
		wrong("--dir is too long");
}

static void create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 || close(fd) != 0)
		wrong("creating %s: %s", path, strerror(errno));
}

static void look(const char *path)
{
	struct stat s;
	if (stat(path, &s) != 0)
		wrong("stat %s: %s", path, strerror(errno));
}

static void take_away(const char *path)
{
	if (unlink(path) != 0)
		wrong("removing %s: %s", path, strerror(errno));
}

void metadata(const struct options *o)
{
	static const struct {
		const char *name;
		void (*once)(const char *);
		int others; /* of the next rank */
	} phases[] = {{"creations", create, 0}, {"stats", look, 1}, {"removals", take_away, 0}};
	char path[PATH];
	if (o->count < 1)
		wrong("--count is 0");
	name_of(path, o, mpi.rank, -1);
	if (mkdir(path, 0777) != 0)
		wrong("making %s: %s", path, strerror(errno));
	for (unsigned p = 0; p < sizeof phases / sizeof *phases; p++) {
		int whose = phases[p].others ? (mpi.rank + 1) % mpi.size : mpi.rank;
		mpi.Barrier(mpi.world);
		int64_t begin = now();
		for (long i = 0; i < o->count; i++) {
			name_of(path, o, whose, i);
			phases[p].once(path);
		}
		double took = phase(begin);
		if (mpi.rank == 0)
			printf(",\"%s_per_second\":%.3f", phases[p].name, (double)o->count * mpi.size * 1e9 / took);
	}
	name_of(path, o, mpi.rank, -1);
	if (rmdir(path) != 0)
		wrong("removing %s: %s", path, strerror(errno));
}
