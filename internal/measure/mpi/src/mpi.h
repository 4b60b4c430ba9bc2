/*
 * mpi.h: what this program uses of MPI, found in the library at run time.
 *
 * There is no compiler in a container image, and one program for every MPI
 * library must be the same bits everywhere. So nothing is linked: the library is
 * loaded, and its kind is told by its symbols. Two binary interfaces are in use:
 * Open MPI's, whose handles are pointers to objects with names, and MPICH's
 * (with Intel MPI, MVAPICH and Cray MPICH), whose handles are numbers that the
 * MPICH ABI Compatibility Initiative has fixed.
 */
#ifndef PLIMSOLL_MPI_H
#define PLIMSOLL_MPI_H

#include <stdint.h>

/* handle holds a handle of either kind; where it is an int, the lower half. */
typedef intptr_t handle;

/* F(result, name, parameters) for each function that must be there. */
#define MPI_FUNCTIONS(F)                                                                   \
	F(Init, (int *, char ***))                                                         \
	F(Finalize, (void))                                                                \
	F(Abort, (handle, int))                                                            \
	F(Comm_rank, (handle, int *))                                                      \
	F(Comm_size, (handle, int *))                                                      \
	F(Get_library_version, (char *, int *))                                            \
	F(Send, (const void *, int, handle, int, int, handle))                             \
	F(Recv, (void *, int, handle, int, int, handle, void *))                           \
	F(Isend, (const void *, int, handle, int, int, handle, void *))                    \
	F(Irecv, (void *, int, handle, int, int, handle, void *))                          \
	F(Waitall, (int, void *, void *))                                                  \
	F(Barrier, (handle))                                                               \
	F(Bcast, (void *, int, handle, int, handle))                                       \
	F(Gather, (const void *, int, handle, void *, int, handle, int, handle))           \
	F(Scatter, (const void *, int, handle, void *, int, handle, int, handle))          \
	F(Alltoall, (const void *, int, handle, void *, int, handle, handle))              \
	F(Reduce, (const void *, void *, int, handle, handle, int, handle))                \
	F(Allreduce, (const void *, void *, int, handle, handle, handle))

/* These are looked for when they are needed: not every library has them. */
#define MPI_OPTIONAL(F)                                                                    \
	F(File_open, (handle, const char *, int, handle, void *))                          \
	F(File_close, (void *))                                                            \
	F(File_write_at, (handle, long long, const void *, int, handle, void *))           \
	F(File_read_at, (handle, long long, void *, int, handle, void *))                  \
	F(File_sync, (handle))                                                             \
	F(T_init_thread, (int, int *))                                                     \
	F(T_finalize, (void))                                                              \
	F(T_cvar_get_index, (const char *, int *))                                         \
	F(T_cvar_get_info, (int, char *, int *, int *, void *, void *, char *, int *, int *, int *)) \
	F(T_cvar_handle_alloc, (int, void *, void *, int *))                               \
	F(T_cvar_read, (handle, void *))                                                   \
	F(T_enum_get_info, (handle, int *, char *, int *))                                 \
	F(T_enum_get_item, (handle, int, int *, char *, int *))

struct mpi {
#define POINTER(name, parameters) int(*name) parameters;
	MPI_FUNCTIONS(POINTER)
	MPI_OPTIONAL(POINTER)
#undef POINTER
	handle world, self, byte, number, sum, max, min, no_info; /* number: MPI_DOUBLE */
	void *ignore;     /* MPI_STATUS_IGNORE, and for several statuses */
	int request_size; /* bytes of an MPI_Request in an array of them */
	const char *abi;  /* "openmpi" or "mpich" */
	const char *path; /* by which name the library was found */
	void *library;    /* as the loader gave it */
	int rank, size;
};

extern struct mpi mpi;

/* load finds the library; path NULL tries the usual names. It ends the program
 * with a message where there is none. */
void load(const char *path);

/* wrong ends this rank, and with it the job, with a message. */
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* now is CLOCK_MONOTONIC in ns. */
int64_t now(void);

/* room gives memory on pages of its own, filled with a pattern of this rank. */
void *room(long bytes, int seed);

/* sum_of_all, most and least gather a number of every rank; the result is rank 0's. */
double sum_of_all(double value);
double most(double value);
double least(double value);

#endif
