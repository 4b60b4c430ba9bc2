/* abi.c: find the MPI library and tell which of the two binary interfaces it has. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi.h"

struct mpi mpi;

/* The names of the library: Open MPI 3 to 5, 2, then MPICH's (and Open MPI 1.10's). */
static const char *const names[] = {"libmpi.so.40", "libmpi.so.80", "libmpi.so.20", "libmpi.so.12", "libmpich.so.12",
				    "libmpi_cray.so.12", "libmpi.so", NULL};

static void *opened(const char *path)
{
	/* Open MPI's plug-ins look for its symbols among the global ones. */
	if (path != NULL) {
		mpi.path = path;
		return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	}
	for (int i = 0; names[i] != NULL; i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
		if (library != NULL) {
			mpi.path = names[i];
			return library;
		}
	}
	return NULL;
}

static handle object(void *library, const char *name)
{
	void *at = dlsym(library, name);
	if (at == NULL) {
		fprintf(stderr, "plimsoll-mpi: %s has no object %s\n", mpi.path, name);
		exit(1);
	}
	return (handle)at;
}

void load(const char *path)
{
	void *library = mpi.library = opened(path);
	if (library == NULL) {
		if (path != NULL) {
			fprintf(stderr, "plimsoll-mpi: no MPI library was found where it was said to be (%s)\n", dlerror());
			exit(1);
		}
		fprintf(stderr, "plimsoll-mpi: no MPI library was found (%s); the image must have Open MPI or an MPI library with MPICH's binary interface, as libmpi.so.40 or libmpi.so.12\n",
			dlerror());
		exit(1);
	}
#define FIND(name, parameters) mpi.name = (int(*) parameters)dlsym(library, "MPI_" #name);
	MPI_FUNCTIONS(FIND)
	MPI_OPTIONAL(FIND)
#undef FIND
#define MUST(name, parameters)                                                             \
	if (mpi.name == NULL) {                                                            \
		fprintf(stderr, "plimsoll-mpi: %s has no function MPI_" #name "\n", mpi.path); \
		exit(1);                                                                   \
	}
	MPI_FUNCTIONS(MUST)
#undef MUST
	if (dlsym(library, "ompi_mpi_comm_world") != NULL) {
		mpi.abi = "openmpi";
		mpi.world = object(library, "ompi_mpi_comm_world");
		mpi.self = object(library, "ompi_mpi_comm_self");
		mpi.byte = object(library, "ompi_mpi_byte");
		mpi.number = object(library, "ompi_mpi_double");
		mpi.sum = object(library, "ompi_mpi_op_sum");
		mpi.max = object(library, "ompi_mpi_op_max");
		mpi.min = object(library, "ompi_mpi_op_min");
		mpi.no_info = object(library, "ompi_mpi_info_null");
		mpi.ignore = NULL;
		mpi.request_size = sizeof(void *);
		return;
	}
	/* The numbers of the MPICH ABI, https://www.mpich.org/abi/ */
	mpi.abi = "mpich";
	mpi.world = 0x44000000;
	mpi.self = 0x44000001;
	mpi.byte = 0x4c00010d;
	mpi.number = 0x4c00080b;
	mpi.max = 0x58000001;
	mpi.min = 0x58000002;
	mpi.sum = 0x58000003;
	mpi.no_info = 0x1c000000;
	mpi.ignore = (void *)1;
	mpi.request_size = sizeof(int);
}
