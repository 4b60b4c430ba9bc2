/* floor.c: the smallest container that the kernel can make. Each step is
 * stamped when it has been done. */
#include "job.h"
#include "text.h"

static char options[4096]; /* the kernel takes one page */
static char map[32];

unsigned long floor_flags(const struct command *cmd) {
	unsigned long f = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWCGROUP;
	if (cmd->flags & CMD_FLOOR_NET)
		f |= CLONE_NEWNET;
	if (cmd->flags & CMD_FLOOR_USER)
		f |= CLONE_NEWUSER;
	return f;
}

static void step(struct birth *b, const char *name) {
	if (b->nsteps < MAX_STEPS) {
		b->steps[b->nsteps].name = name;
		b->steps[b->nsteps++].at = now();
	}
}

static long put(const char *path, const char *text) {
	long fd = sys_open(path, O_WRONLY), r;
	if (fd < 0)
		return fd;
	r = sys_write((int)fd, text, text_len(text));
	sys_close((int)fd);
	return r;
}

/* map_id writes "0 ID 1": 0 inside is ID outside. */
static long map_id(const char *path, u32 id) {
	char *p = map + sizeof(map);
	*--p = 0;
	*--p = '1';
	*--p = ' ';
	do {
		*--p = (char)('0' + id % 10);
		id /= 10;
	} while (id);
	*--p = ' ';
	*--p = '0';
	return put(path, p);
}

/* A process without rights outside may map one id, its own, and the group
 * only after it has given up setgroups: user_namespaces(7). The parent can't
 * do it for us: it waits for our exec. */
static long map_ids(struct birth *b, u32 uid, u32 gid) {
	long r;
	b->where = "setgroups deny";
	r = put("/proc/self/setgroups", "deny");
	if (r < 0)
		return r;
	b->where = "uid_map";
	r = map_id("/proc/self/uid_map", uid);
	if (r < 0)
		return r;
	b->where = "gid_map";
	return map_id("/proc/self/gid_map", gid);
}

static long overlay(const struct command *c) {
	const char *parts[] = {"lowerdir=", c->lower, ",upperdir=", c->upper, ",workdir=", c->work,
			       c->flags & CMD_FLOOR_USER ? ",userxattr" : ""};
	usize len = 0;
	long r;
	for (usize i = 0; i < COUNT(parts); i++) {
		r = text_join(options + len, sizeof(options) - len, "", parts[i]);
		if (r < 0)
			return r;
		len += text_len(parts[i]);
	}
	r = sys_mount("overlay", c->merged, "overlay", 0, options);
	if (r == -EINVAL && (c->flags & CMD_FLOOR_USER)) { /* a kernel that does not know userxattr */
		options[len - text_len(",userxattr")] = 0;
		r = sys_mount("overlay", c->merged, "overlay", 0, options);
	}
	return r;
}

/* The new /proc comes before the old root goes: in a user namespace the
 * kernel lets one be mounted only as long as another, whole one can be seen
 * (mount_too_revealing in fs/namespace.c). The working directory is the
 * overlay already. */
static long proc(void) {
	long flags = PROBE_MS_NOSUID | PROBE_MS_NODEV | PROBE_MS_NOEXEC;
	long r = sys_mount("proc", "proc", "proc", flags, NULL);
	if (r != -ENOENT)
		return r;
	r = sys_mkdir("proc", 0555);
	return r < 0 ? r : sys_mount("proc", "proc", "proc", flags, NULL);
}

/* pivot_root(".", ".") lays the old root over the new one, from where it is
 * taken away at once: pivot_root(2), "pivot_root(".", ".")". */
static long pivot(struct birth *b) {
	long r;
	b->where = "pivot_root";
	r = sys_pivot_root(".", ".");
	if (r < 0)
		return r;
	b->where = "detaching the old root";
	r = sys_umount2(".", PROBE_MNT_DETACH);
	if (r < 0)
		return r;
	b->where = "chdir to the new root";
	return sys_chdir("/");
}

long floor_enter(const struct command *cmd, struct birth *b, u32 uid, u32 gid) {
	long r;
	if (cmd->flags & CMD_FLOOR_USER) {
		r = map_ids(b, uid, gid);
		if (r < 0)
			return r;
		step(b, "mapped");
	}
	b->where = "making mounts private";
	r = sys_mount(NULL, "/", NULL, PROBE_MS_REC | PROBE_MS_PRIVATE, NULL);
	if (r < 0)
		return r;
	step(b, "private");
	b->where = "mounting the overlay";
	r = overlay(cmd);
	if (r < 0)
		return r;
	step(b, "overlay");
	b->where = "chdir to the overlay";
	r = sys_chdir(cmd->merged);
	if (r < 0)
		return r;
	b->where = "mounting /proc";
	r = proc();
	if (r < 0)
		return r;
	step(b, "proc");
	r = pivot(b);
	if (r < 0)
		return r;
	step(b, "pivot");
	b->where = NULL;
	return 0;
}
