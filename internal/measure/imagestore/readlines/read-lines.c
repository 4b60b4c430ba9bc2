/* read-lines.c: every file of a directory opened and read line by line, in the
 * order in which the kernel names them, as everarts2020's program does. It is
 * static and of the probe's pieces, so that the same bits run in every image.
 *
 * usage: read-lines DIRECTORY */
#include "report.h"
#include "verbs.h"

/* struct linux_dirent64, which the kernel's headers keep to themselves */
struct name {
	u64 inode;
	i64 offset;
	u16 length;
	u8 type;
	char text[];
};

enum { REGULAR = 8, NOT_TOLD = 0 };

static struct lines file;
static char path[4096];

static i64 lines_in(const char *dir, const char *name) {
	i64 n = 0;
	if (text_join(path, sizeof(path), dir, "/") < 0 || text_join(path + text_len(path), sizeof(path) - text_len(path), name, "") < 0)
		complain(STATUS_USAGE, "a file's name is too long", 0);
	long r = lines_open(&file, path);
	if (r < 0)
		complain(STATUS_SYSTEM, path, r);
	while (lines_next(&file))
		n++;
	lines_close(&file);
	if (!n) /* a file that can't be read looks like one that has ended */
		complain(STATUS_SYSTEM, path, -EIO);
	return n;
}

__attribute__((noreturn, used)) void probe_start(usize *sp) {
	static u64 entries[4096]; /* 32 KiB, as a C library asks for */
	static struct out said;
	char **argv = (char **)(sp + 1);
	i64 files = 0, lines = 0;
	long got;
	if (sp[0] != 2)
		complain(STATUS_USAGE, "usage: read-lines DIRECTORY", 0);
	long fd = sys_open(argv[1], O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		complain(STATUS_SYSTEM, argv[1], fd);
	while ((got = sys_getdents64((int)fd, entries, sizeof(entries))) > 0) {
		const char *p = (const char *)entries;
		for (long at = 0; at < got;) {
			const struct name *e = (const void *)(p + at);
			at += e->length;
			if (e->type != REGULAR && (e->type != NOT_TOLD || e->text[0] == '.'))
				continue;
			lines += lines_in(argv[1], e->text);
			files++;
		}
	}
	if (got < 0)
		complain(STATUS_SYSTEM, argv[1], got);
	if (!files)
		complain(STATUS_SYSTEM, "there is no file", 0);
	said.fd = 1;
	out_num(&said, lines);
	out_text(&said, " lines in ");
	out_num(&said, files);
	out_text(&said, " files\n");
	out_flush(&said);
	sys_exit(said.err ? STATUS_SYSTEM : 0);
}
