/*
 * plimsoll-mpi TEST [--size BYTES] [--iterations N] [--warmup N] [--window N] …
 *
 * Rank 0 prints one JSON object: the test's numbers, how many ranks took part
 * and on which hosts, which library carried them and by which way. A number is
 * printed only where what arrived was what was sent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi.h"
#include "tests.h"

enum { HOST = 128, LIBRARY = 8192 };

static const struct {
	const char *name;
	void (*run)(const struct options *);
} tests[] = {
    {"latency", latency},     {"bandwidth", bandwidth}, {"alltoall", collective}, {"scatter", collective}, {"gather", collective},
    {"allreduce", collective}, {"barrier", collective},  {"ior", ior},             {"hacc", hacc},          {"metadata", metadata},
};

static void usage(const char *why, const char *what)
{
	fprintf(stderr, "plimsoll-mpi: %s %s\nusage: plimsoll-mpi TEST [--size BYTES] [--iterations N] [--warmup N] [--window N] [--buffers one|two] [--best N] [--dir DIR] [--api posix|mpiio] [--file shared|process] [--sync yes|no] [--block BYTES] [--transfer BYTES] [--segments N] [--particles N] [--count N] [--library PATH]\n       plimsoll-mpi needs [DIRECTORY OF PLUG-INS]...\ntests:", why, what);
	for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++)
		fprintf(stderr, " %s", tests[i].name);
	fputc('\n', stderr);
	exit(2);
}

static long whole(const char *name, const char *s, long most_of_it)
{
	char *end;
	long n = strtol(s, &end, 10);
	if (*s < '0' || *s > '9' || *end != '\0' || n > most_of_it)
		usage(name, "wants a whole number that is not too large");
	return n;
}

static struct options parse(int argc, char **argv, const char **library)
{
	struct options o = {.test = argv[1], .size = 8, .warmup = -1, .window = 64, .dir = ".", .api = "posix",
			    .block = 1 << 20, .transfer = 256 << 10, .segments = 1, .particles = 1 << 20, .count = 1000};
	for (int i = 2; i < argc; i += 2) {
		const char *name = argv[i], *value = argv[i + 1];
		if (value == NULL)
			usage(name, "wants a value");
		/* An MPI count is an int. */
		if (strcmp(name, "--size") == 0)
			o.size = whole(name, value, 1L << 30);
		else if (strcmp(name, "--iterations") == 0)
			o.iterations = strcmp(value, "osu") == 0 ? 0 : whole(name, value, 1000000000);
		else if (strcmp(name, "--warmup") == 0)
			o.warmup = whole(name, value, 1000000000);
		else if (strcmp(name, "--window") == 0)
			o.window = whole(name, value, 4096);
		else if (strcmp(name, "--dir") == 0)
			o.dir = value;
		else if (strcmp(name, "--api") == 0)
			o.api = value;
		else if (strcmp(name, "--file") == 0)
			o.per_process = strcmp(value, "process") == 0;
		else if (strcmp(name, "--best") == 0)
			o.best = whole(name, value, 1000);
		else if (strcmp(name, "--buffers") == 0)
			o.one_buffer = strcmp(value, "one") == 0;
		else if (strcmp(name, "--sync") == 0)
			o.sync = strcmp(value, "yes") == 0;
		else if (strcmp(name, "--block") == 0)
			o.block = whole(name, value, 1L << 40);
		else if (strcmp(name, "--transfer") == 0)
			o.transfer = whole(name, value, 1L << 30);
		else if (strcmp(name, "--segments") == 0)
			o.segments = whole(name, value, 1000000);
		else if (strcmp(name, "--particles") == 0)
			o.particles = whole(name, value, 1L << 30);
		else if (strcmp(name, "--count") == 0)
			o.count = whole(name, value, 1L << 30);
		else if (strcmp(name, "--library") == 0)
			*library = value;
		else
			usage("no such option:", name);
	}
	return o;
}

/* who prints where the ranks are. That rank 0 has heard of them all is the proof
 * that they are one job, and not as many jobs of one rank. */
static void who(void)
{
	char mine[HOST] = "", *all = room((long)HOST * mpi.size, 0);
	if (gethostname(mine, sizeof mine - 1) != 0)
		strcpy(mine, "?");
	mpi.Gather(mine, HOST, mpi.byte, all, HOST, mpi.byte, 0, mpi.world);
	if (mpi.rank != 0)
		return;
	int nodes = 0;
	printf(",\"ranks\":%d,\"hosts\":[", mpi.size);
	for (int i = 0; i < mpi.size; i++) {
		int known = 0;
		for (int k = 0; k < i && !known; k++)
			known = strcmp(all + (size_t)k * HOST, all + (size_t)i * HOST) == 0;
		nodes += !known;
		printf("%s", i > 0 ? "," : "");
		text(all + (size_t)i * HOST);
	}
	printf("],\"nodes\":%d", nodes);
}

int main(int argc, char **argv)
{
	const char *library = getenv("PLIMSOLL_MPI_LIBRARY");
	if (argc < 2)
		usage("no test was", "named");
	if (strcmp(argv[1], "needs") == 0) { /* what is to go with the library, into a container that has another */
		load(library);
		needs(argv + 2);
		return 0;
	}
	struct options o = parse(argc, argv, &library);
	void (*run)(const struct options *) = NULL;
	for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++)
		if (strcmp(tests[i].name, o.test) == 0)
			run = tests[i].run;
	if (run == NULL)
		usage("no such test:", o.test);
	load(library);
	mpi.Init(NULL, NULL);
	mpi.Comm_rank(mpi.world, &mpi.rank);
	mpi.Comm_size(mpi.world, &mpi.size);
	if (mpi.rank == 0) {
		printf("{\"test\":");
		text(o.test);
		printf(",\"size\":%ld", o.size);
	}
	run(&o);
	who();
	loaded();
	if (mpi.rank == 0) {
		char version[LIBRARY] = "";
		int length = 0;
		mpi.Get_library_version(version, &length);
		version[strcspn(version, "\n")] = '\0';
		printf(",\"library\":");
		text(version);
		printf(",\"abi\":\"%s\",\"found_as\":", mpi.abi);
		text(mpi.path);
		transport();
		printf("}\n");
		fflush(stdout);
	}
	mpi.Finalize();
	return 0;
}
