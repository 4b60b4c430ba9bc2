/* tests.h: the tests, and what they are told. */
#ifndef PLIMSOLL_TESTS_H
#define PLIMSOLL_TESTS_H

#include <stdint.h>

struct options {
	const char *test;
	long size;       /* bytes of a message, or of what each rank gives each */
	long iterations; /* 0: as the OSU micro-benchmarks have it for this size */
	long warmup;     /* -1: likewise */
	long window;     /* messages in flight, of bandwidth */
	int one_buffer;  /* latency receives into what it has sent from */
	long best;       /* latency is the least of so many means */

	/* Of the tests of files. */
	const char *dir;
	const char *api; /* posix or mpiio */
	int per_process; /* a file a process instead of a shared one */
	int sync;
	long block, transfer, segments, particles, count;
};

/* Each prints the members of the result's JSON object that are its own, on rank 0. */
void latency(const struct options *o);
void bandwidth(const struct options *o);
void collective(const struct options *o);
void ior(const struct options *o);
void hacc(const struct options *o);
void metadata(const struct options *o);

/* A file, by POSIX calls or by MPI-IO. Each call ends the job where it fails. */
struct file {
	int fd;       /* POSIX; -1: MPI-IO */
	long long of; /* the handle of an MPI_File, as large as it is in either interface */
};
void file_open(struct file *f, const struct options *o, const char *path, int create);
void file_write(struct file *f, const void *from, long size, long long at);
void file_read(struct file *f, void *to, long size, long long at);
void file_sync(struct file *f);
void file_close(struct file *f);

/* phase ends a phase and gives what it took in all, in ns: from the first rank's
 * leaving the barrier before it to the last rank's end. The result is rank 0's. */
double phase(int64_t begin);

/* transport prints the library's own control variables that tell by which way
 * messages go. */
void transport(void);

/* loaded prints, on rank 0, from which files the ranks have the library. Where it
 * was named by its path, it also prints what rank 0 has loaded from elsewhere. */
void loaded(void);

/* needs prints what the library and the plug-ins in these directories need. */
void needs(char **directories);

/* sha256 gives the digest of a file as hexadecimal digits, or -1. */
int sha256(const char *path, char hex[65]);

/* text prints a JSON string. */
void text(const char *s);

#endif
