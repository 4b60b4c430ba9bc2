/* file.c: files by POSIX calls or by MPI-IO. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "mpi.h"
#include "tests.h"

/* MPI's modes, the same in both binary interfaces. */
enum { CREATE = 1, READ_WRITE = 8 };

static handle of(struct file *f)
{
	handle h = 0;
	memcpy(&h, &f->of, sizeof h); /* an MPI_File is a pointer in both */
	return h;
}

void file_open(struct file *f, const struct options *o, const char *path, int create)
{
	f->fd = -1;
	f->of = 0;
	if (strcmp(o->api, "posix") == 0) {
		f->fd = open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0666);
		if (f->fd < 0)
			wrong("opening %s: %s", path, strerror(errno));
		return;
	}
	if (strcmp(o->api, "mpiio") != 0)
		wrong("--api can be posix or mpiio, not %s", o->api);
	if (mpi.File_open == NULL || mpi.File_close == NULL || mpi.File_write_at == NULL || mpi.File_read_at == NULL || mpi.File_sync == NULL)
		wrong("this MPI library has no MPI-IO");
	if (mpi.File_open(o->per_process ? mpi.self : mpi.world, path, READ_WRITE | (create ? CREATE : 0), mpi.no_info, &f->of) != 0)
		wrong("opening %s by MPI-IO did not work", path);
}

void file_write(struct file *f, const void *from, long size, long long at)
{
	if (f->fd < 0) {
		if (mpi.File_write_at(of(f), at, from, (int)size, mpi.byte, mpi.ignore) != 0)
			wrong("writing %ld bytes at %lld by MPI-IO did not work", size, at);
		return;
	}
	for (long done = 0; done < size;) {
		ssize_t n = pwrite(f->fd, (const char *)from + done, (size_t)(size - done), at + done);
		if (n <= 0)
			wrong("writing %ld bytes at %lld: %s", size, at, n < 0 ? strerror(errno) : "nothing is written");
		done += n;
	}
}

void file_read(struct file *f, void *to, long size, long long at)
{
	if (f->fd < 0) {
		if (mpi.File_read_at(of(f), at, to, (int)size, mpi.byte, mpi.ignore) != 0)
			wrong("reading %ld bytes at %lld by MPI-IO did not work", size, at);
		return;
	}
	for (long done = 0; done < size;) {
		ssize_t n = pread(f->fd, (char *)to + done, (size_t)(size - done), at + done);
		if (n <= 0)
			wrong("reading %ld bytes at %lld: %s", size, at, n < 0 ? strerror(errno) : "the file ends there");
		done += n;
	}
}

void file_sync(struct file *f)
{
	if (f->fd >= 0 ? fsync(f->fd) != 0 : mpi.File_sync(of(f)) != 0)
		wrong("fsync: %s", f->fd >= 0 ? strerror(errno) : "MPI-IO's did not work");
}

void file_close(struct file *f)
{
	if (f->fd >= 0 ? close(f->fd) != 0 : mpi.File_close(&f->of) != 0)
		wrong("closing the file: %s", f->fd >= 0 ? strerror(errno) : "MPI-IO's did not work");
}

double phase(int64_t begin)
{
	/* Clocks of several nodes have nothing in common, so that it is a rank's own
	 * time that counts, and the longest: that of the rank which left the first
	 * barrier first. Each waits for all before it looks at its clock. Without that a
	 * rank that shares its processor with others, and leaves the barrier when they
	 * are done, would count its own turn alone: eight ranks on two processors would
	 * read four times as fast as they do. */
	mpi.Barrier(mpi.world);
	return most((double)(now() - begin));
}
