/* mounts.c: the mount of the root directory, and how many mounts there are, in all and at or below some directories. */
#include "report.h"

static struct lines file;
static char kept[sizeof(file.line)];

/* field cuts the next blank-separated field off *s; mountinfo writes blanks
 * inside of fields as \040. */
static char *field(char **s) {
	char *f = *s;
	while (**s && **s != ' ')
		(*s)++;
	if (**s)
		*(*s)++ = 0;
	return f;
}

/* root reports a line of mountinfo, proc_pid_mountinfo(5): id, parent,
 * device, root, mount point, options, tags…, "-", type, source, options. */
static void root(struct out *o, char *s) {
	char *f, *options;
	for (int i = 0; i < 5; i++)
		field(&s);
	options = field(&s);
	do {
		f = field(&s);
	} while (*f && !text_eq(f, "-"));
	report_text(o, "root.fs", field(&s));
	report_text(o, "root.source", field(&s));
	report_text(o, "root.mount_options", options);
	report_text(o, "root.options", field(&s));
}

/* option says whether a line's mount options, which follow its mount point, have one. */
static int option(const char *point, const char *name) {
	usize n = text_len(name);
	while (*point && *point != ' ')
		point++;
	while (*point == ' ' || *point == ',') {
		point++;
		if (text_begins(point, name) && (point[n] == ',' || point[n] == ' ' || !point[n]))
			return 1;
		while (*point && *point != ' ' && *point != ',')
			point++;
		if (*point == ' ')
			return 0;
	}
	return 0;
}

/* point is where a line's mount point begins. */
static const char *point(const char *s) {
	for (int i = 0; i < 4; i++) {
		while (*s && *s != ' ')
			s++;
		if (*s)
			s++;
	}
	return s;
}

void report_mounts(struct out *o) {
	/* Below /proc lies what hides or protects something there. */
	static const struct {
		const char *at, *key;
	} places[] = {
		{"/proc/", "mounts.proc"}, {"/etc/", "mounts.etc"}, {"/etc/passwd ", "mounts.etc.passwd"}, {"/dev", "mounts.dev"}, {"/sys", "mounts.sys"},
		{"/tmp", "mounts.tmp"}, {"/home", "mounts.home"}, {"/root", "mounts.root"},
	};
	i64 n = 0, mapped = 0, below[COUNT(places)] = {0};
	int found = 0;
	if (lines_open(&file, "/proc/self/mountinfo") < 0)
		return;
	while (lines_next(&file)) {
		const char *at = point(file.line);
		n++;
		mapped += option(at, "idmapped");
		for (usize i = 0; i < COUNT(places); i++)
			below[i] += text_begins(at, places[i].at);
		if (at[0] == '/' && at[1] == ' ') { /* the last one lies on top */
			memcpy(kept, file.line, file.len + 1);
			found = 1;
		}
	}
	lines_close(&file);
	report_num(o, "mounts", n);
	report_num(o, "mounts.idmapped", mapped);
	for (usize i = 0; i < COUNT(places); i++)
		report_num(o, places[i].key, below[i]);
	if (found)
		root(o, kept);
}
