/* net.c: links made and deleted by netlink, in the network namespace that the
 * process is in: rtnetlink(7). */
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include "mechanism.h"
#include "small.h"

#define FAMILY_NETLINK 16
#define SOCKET_RAW 3
#define LINK_UP 1 /* IFF_UP */

static int sock;
static struct {
	struct nlmsghdr head;
	struct ifinfomsg link;
	u8 rest[256];
} message;
static usize at; /* in rest */

long net_open(const char **what) {
	*what = "a netlink socket";
	long r = sys_socket(FAMILY_NETLINK, SOCKET_RAW | PROBE_SOCK_CLOEXEC);
	sock = (int)r;
	return r;
}

static void begin(u16 type, u16 flags) {
	memset(&message, 0, sizeof(message));
	at = 0;
	message.head.nlmsg_type = type;
	message.head.nlmsg_flags = (u16)(NLM_F_REQUEST | NLM_F_ACK | flags);
}

/* attribute appends one; what it holds may follow, and shut closes it. */
static struct rtattr *attribute(u16 type, const void *data, usize n) {
	struct rtattr *a = (void *)(message.rest + at);
	a->rta_type = type;
	a->rta_len = (u16)(sizeof(*a) + n);
	memcpy(a + 1, data, n);
	at += (sizeof(*a) + n + 3) & ~(usize)3;
	return a;
}

static void shut(struct rtattr *a) { a->rta_len = (u16)((usize)(message.rest + at) - (usize)a); }

static void named(const char *name) { attribute(IFLA_IFNAME, name, text_len(name) + 1); }

long netlink_ask(int to, const void *asked, usize n) {
	static struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		u8 rest[1024];
	} answer;
	long r = SYS(sendto, to, asked, n, 0, NULL, 0);
	if (r < 0)
		return r;
	r = sys_read(to, &answer, sizeof(answer));
	if (r < 0)
		return r;
	return answer.head.nlmsg_type == NLMSG_ERROR ? answer.err.error : -EPROTO;
}

static long send(void) {
	message.head.nlmsg_len = (u32)(sizeof(message.head) + sizeof(message.link) + at);
	return netlink_ask(sock, &message, message.head.nlmsg_len);
}

long net_veth_add(const char **what) {
	struct ifinfomsg peer = {0};
	*what = "making a veth pair";
	begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	named("plm0");
	struct rtattr *info = attribute(IFLA_LINKINFO, "", 0);
	attribute(IFLA_INFO_KIND, "veth", 4);
	struct rtattr *data = attribute(IFLA_INFO_DATA, "", 0);
	struct rtattr *other = attribute(VETH_INFO_PEER, &peer, sizeof(peer));
	named("plm1");
	shut(other);
	shut(data);
	shut(info);
	return send();
}

static long delete(const char *name) {
	begin(RTM_DELLINK, 0);
	named(name);
	return send();
}

long net_veth_delete(const char **what) {
	*what = "deleting the veth pair";
	return delete("plm0");
}

long net_bridge_add(const char **what) {
	*what = "making a bridge";
	begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	named("plm2");
	struct rtattr *info = attribute(IFLA_LINKINFO, "", 0);
	attribute(IFLA_INFO_KIND, "bridge", 6);
	shut(info);
	return send();
}

long net_bridge_delete(const char **what) {
	*what = "deleting the bridge";
	return delete("plm2");
}

long net_loopback_up(const char **what) {
	*what = "setting lo up";
	begin(RTM_NEWLINK, 0);
	message.link.ifi_index = 1;
	message.link.ifi_flags = message.link.ifi_change = LINK_UP;
	return send();
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
