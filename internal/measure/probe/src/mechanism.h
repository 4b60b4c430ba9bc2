/* mechanism.h: what containers are made of, one by one. */
#ifndef PROBE_MECHANISM_H
#define PROBE_MECHANISM_H

#include "text.h"

/* Each function gives -errno on failure, and may say in *what what failed. */
struct mechanism {
	const char *name;
	unsigned long flags;		      /* namespaces that the child is born in; not timed */
	long (*worker)(int index, const char **); /* once for each worker, before anything is timed */
	long (*prepare)(const char **);	      /* in each child; not timed */
	long (*make)(const char **);	      /* timed; without one, the fork is */
	long (*undo)(const char **);	      /* timed; without one, the child's end is */
	void (*over)(int index);	      /* once for each worker, at its end */
};

/* mechanism_whole leaves a chroot for the root of the mount namespace: the
 * kernel refuses user namespaces in a chroot, and it shows no control groups.
 * Who may not is left where it is. */
long mechanism_whole(int index, const char **what);

/* mechanism_of is NULL for a name that there is none of. */
const struct mechanism *mechanism_of(const char *name);

/* netlink_ask sends a message and gives what the kernel answers: 0 or -errno. */
long netlink_ask(int to, const void *asked, usize n);

/* net.c: links of the network namespace that the process is in. */
long net_open(const char **what);
long net_veth_add(const char **what);
long net_veth_delete(const char **what);
long net_bridge_add(const char **what);
long net_bridge_delete(const char **what);
long net_loopback_up(const char **what);

/* filter.c: rules of the packet filter of that network namespace. */
long filter_open(const char **what);
long filter_add(const char **what);
long filter_delete(const char **what);

/* groups.c: a control group below the process's own. */
long group_find(int index, const char **what);
long group_reuse(int index, const char **what);
long group_make(const char **what);
long group_undo(const char **what);
long group_enter(const char **what);
long group_leave(const char **what);
void group_over(int index);

#endif
