/*
 * library.c: which file the MPI library is, as this process sees it, and what
 * else was loaded with it. The loader itself is asked, so that what is told is
 * what runs, whatever paths and variables were meant to do.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"
#include "tests.h"

enum { PATH = 1024 };

struct file_seen {
	char path[PATH];
	char sum[65];
};

/* own finds the library's file, with all links followed. */
static void own(struct file_seen *f)
{
	struct link_map *map = NULL;
	char real[PATH_MAX];
	memset(f, 0, sizeof *f);
	if (dlinfo(mpi.library, RTLD_DI_LINKMAP, &map) != 0 || map == NULL || realpath(map->l_name, real) == NULL || strlen(real) >= PATH)
		return;
	strcpy(f->path, real);
	if (sha256(real, f->sum) != 0)
		f->sum[0] = '\0';
}

struct list {
	const char *comma;
	const char *but; /* what lies below this is left out; "" is nothing */
};

static int object(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct list *l = argument;
	(void)size;
	if (info->dlpi_name == NULL || info->dlpi_name[0] != '/')
		return 0; /* the program itself, and what the kernel maps */
	if (*l->but != '\0' && strncmp(info->dlpi_name, l->but, strlen(l->but)) == 0)
		return 0;
	printf("%s", l->comma);
	text(info->dlpi_name);
	l->comma = ",";
	return 0;
}

static void objects(const char *name, const char *but)
{
	struct list l = {.comma = "", .but = but};
	printf(",\"glibc\":");
	text(gnu_get_libc_version());
	printf(",\"%s\":[", name);
	dl_iterate_phdr(object, &l);
	printf("]");
}

void loaded(void)
{
	struct file_seen mine, *all = room((long)sizeof mine * mpi.size, 0);
	const char *comma = "";
	own(&mine);
	mpi.Gather(&mine, sizeof mine, mpi.byte, all, sizeof mine, mpi.byte, 0, mpi.world);
	if (mpi.rank != 0)
		return;
	printf(",\"library_files\":[");
	for (int i = 0; i < mpi.size; i++) {
		int known = 0;
		for (int k = 0; k < i && !known; k++)
			known = memcmp(all + k, all + i, sizeof mine) == 0;
		if (known)
			continue;
		printf("%s{\"path\":", comma);
		text(all[i].path);
		printf(",\"sha256\":");
		text(all[i].sum);
		printf("}");
		comma = ",";
	}
	printf("]");
	/* DIR/lib/libmpi.so was to be loaded, and all that it needs from DIR. */
	char above[PATH + 1];
	if (mpi.path[0] != '/' || snprintf(above, PATH, "%s", mpi.path) >= PATH)
		return;
	for (int i = 0; i < 2; i++)
		if (strrchr(above, '/') != NULL)
			*strrchr(above, '/') = '\0';
	strcat(above, "/");
	objects("elsewhere", above);
}

/* plugins loads what lies in a directory, for the sake of what it needs. What
 * can't be loaded here is no use to the library either. */
static void plugins(const char *path)
{
	DIR *d = opendir(path);
	if (d == NULL)
		return;
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		char file[PATH_MAX];
		size_t n = strlen(e->d_name);
		if (n > 3 && strcmp(e->d_name + n - 3, ".so") == 0 && snprintf(file, sizeof file, "%s/%s", path, e->d_name) < (int)sizeof file)
			dlopen(file, RTLD_LAZY | RTLD_LOCAL);
	}
	closedir(d);
}

void needs(char **directories)
{
	struct file_seen mine;
	while (*directories != NULL)
		plugins(*directories++);
	own(&mine);
	printf("{\"library\":");
	text(mine.path);
	printf(",\"found_as\":");
	text(mpi.path);
	printf(",\"sha256\":");
	text(mine.sum);
	objects("objects", "");
	printf("}\n");
}
