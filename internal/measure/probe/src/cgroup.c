/* cgroup.c: the control groups as seen from inside, and the limits in them
 * that can be read there.
 *
 * A path of /proc/self/cgroup may be the host's while /sys/fs/cgroup shows
 * the container's own group as its top (cgroup v1 without a cgroup
 * namespace), so the path is tried first and then the top. The key
 * "limit.….at" says which file it was. */
#include "report.h"

static struct lines file;
static char path[8192], value[256];

/* concat joins pieces into path; 0, or -ENAMETOOLONG. */
static int concat(const char *const *pieces, usize n) {
	usize len = 0;
	path[0] = 0;
	for (usize i = 0; i < n; i++) {
		int r = text_join(path + len, sizeof(path) - len, "", pieces[i]);
		if (r < 0)
			return r;
		len += text_len(pieces[i]);
	}
	return 0;
}

/* throttled reads cpu.stat beside the limit that path is. */
static void throttled(struct out *o) {
	static const char *const keys[] = {"throttled_usec", "throttled_time"}; /* v2, v1 (ns) */
	static char stat[1024];
	char *line = stat, *end = path;
	for (char *p = path; *p; p++)
		if (*p == '/')
			end = p;
	if (text_join(end, sizeof(path) - (usize)(end - path), "/", "cpu.stat") < 0 ||
	    read_file(path, stat, sizeof(stat)) <= 0)
		return;
	while (*line) {
		char *next = line;
		while (*next && *next != '\n')
			next++;
		for (usize i = 0; i < COUNT(keys); i++) {
			char *v = line + text_len(keys[i]);
			if (text_begins(line, keys[i]) && *v == ' ')
				report_pair(o, "", keys[i], v + 1, (usize)(next - v - 1));
		}
		line = *next ? next + 1 : next;
	}
}

static int try_file(struct out *o, const char *name) {
	long n = read_file(path, value, sizeof(value));
	if (n <= 0)
		return 0;
	if (value[n - 1] == '\n')
		n--;
	report_pair(o, "limit.", name, value, (usize)n);
	out_text(o, "k limit.");
	out_text(o, name);
	out_text(o, ".at ");
	out_value(o, path, text_len(path));
	out_text(o, "\n");
	/* "max" and -1 are no limit. */
	if ((text_eq(name, "cpu.max") || text_eq(name, "cpu.cfs_quota_us")) && value[0] >= '0' && value[0] <= '9')
		throttled(o);
	return 1;
}

static void limits(struct out *o, const char *const *mounts, const char *group, const char *const *names) {
	for (; *names; names++) {
		int found = 0;
		for (const char *const *m = mounts; *m && !found; m++) {
			const char *deep[] = {*m, text_eq(group, "/") ? "" : group, "/", *names};
			const char *top[] = {*m, "/", *names};
			found = concat(deep, COUNT(deep)) == 0 && try_file(o, *names);
			if (!found)
				found = concat(top, COUNT(top)) == 0 && try_file(o, *names);
		}
	}
}

/* has says whether the comma-separated list holds the word. */
static int has(const char *list, const char *word) {
	usize n = text_len(word);
	while (*list) {
		if (text_begins(list, word) && (list[n] == 0 || list[n] == ','))
			return 1;
		while (*list && *list != ',')
			list++;
		if (*list)
			list++;
	}
	return 0;
}

static void one(struct out *o, const char *controllers, const char *group) {
	static const char *const v2[] = {"cpu.max", "memory.max", "pids.max", NULL};
	static const char *const cpu[] = {"cpu.cfs_quota_us", "cpu.cfs_period_us", NULL};
	static const char *const memory[] = {"memory.limit_in_bytes", NULL};
	static const char *const pids[] = {"pids.max", NULL};
	static const char *const at_v2[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", NULL};
	static const char *const at_cpu[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", NULL};
	static const char *const at_memory[] = {"/sys/fs/cgroup/memory", NULL};
	static const char *const at_pids[] = {"/sys/fs/cgroup/pids", NULL};

	report_pair(o, "cgroup.", *controllers ? controllers : "v2", group, text_len(group));
	if (!*controllers)
		limits(o, at_v2, group, v2);
	if (has(controllers, "cpu"))
		limits(o, at_cpu, group, cpu);
	if (has(controllers, "memory"))
		limits(o, at_memory, group, memory);
	if (has(controllers, "pids"))
		limits(o, at_pids, group, pids);
}

void report_cgroup(struct out *o) {
	if (lines_open(&file, "/proc/self/cgroup") < 0)
		return;
	while (lines_next(&file)) { /* "ID:controllers:path" */
		char *c = file.line, *g;
		while (*c && *c != ':')
			c++;
		if (!*c)
			continue;
		g = ++c;
		while (*g && *g != ':')
			g++;
		if (!*g)
			continue;
		*g++ = 0;
		one(o, c, g);
	}
	lines_close(&file);
}
