/* filter.c: rules of the packet filter (nftables) made and deleted by netlink, in the
 * network namespace that the process is in. The kernel takes them in batches: all of
 * one, or none. */
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include "mechanism.h"
#include "small.h"

#define FAMILY_NETLINK 16
#define SOCKET_RAW 3
#define OF_NETFILTER 12 /* NETLINK_NETFILTER */
#define OF_IPV4 2	/* NFPROTO_IPV4 */
#define FORWARDED 2	/* NF_INET_FORWARD */
#define NFTABLES(message) ((u16)(NFNL_SUBSYS_NFTABLES << 8 | (message)))

static int sock;
static u8 batch[512] __attribute__((aligned(4)));
static usize at; /* in batch */
static struct nlmsghdr *last;

long filter_open(const char **what) {
	*what = "a netlink socket for the packet filter";
	long r = SYS(socket, FAMILY_NETLINK, SOCKET_RAW | PROBE_SOCK_CLOEXEC, OF_NETFILTER, 0, 0, 0);
	sock = (int)r;
	return r;
}

/* message appends one; its attributes follow. */
static void message(u16 type, u16 flags, u8 family, u16 id) {
	struct nfgenmsg *general;
	last = (void *)(batch + at);
	last->nlmsg_type = type;
	last->nlmsg_flags = (u16)(NLM_F_REQUEST | flags);
	general = (void *)(last + 1);
	general->nfgen_family = family;
	general->res_id = __builtin_bswap16(id);
	at += sizeof(*last) + sizeof(*general);
	last->nlmsg_len = (u32)(sizeof(*last) + sizeof(*general));
}

/* attribute appends one; what it holds may follow, and shut closes it. */
static struct nlattr *attribute(u16 type, const void *data, usize n) {
	struct nlattr *a = (void *)(batch + at);
	usize room = (sizeof(*a) + n + 3) & ~(usize)3;
	a->nla_type = type;
	a->nla_len = (u16)(sizeof(*a) + n);
	memcpy(a + 1, data, n);
	at += room;
	last->nlmsg_len += (u32)room;
	return a;
}

static void shut(struct nlattr *a) { a->nla_len = (u16)((usize)(batch + at) - (usize)a); }

static void text(u16 type, const char *name) { attribute(type, name, text_len(name) + 1); }

static void number(u16 type, u32 n) {
	n = __builtin_bswap32(n);
	attribute(type, &n, sizeof(n));
}

static void begin(void) {
	memset(batch, 0, sizeof(batch));
	at = 0;
	message(NFNL_MSG_BATCH_BEGIN, 0, 0, NFNL_SUBSYS_NFTABLES);
}

static long send(void) {
	message(NFNL_MSG_BATCH_END, 0, 0, NFNL_SUBSYS_NFTABLES);
	return netlink_ask(sock, batch, at);
}

/* A table with a chain on the way of what is forwarded, and a rule that counts it. */
long filter_add(const char **what) {
	*what = "making rules of the packet filter";
	begin();
	message(NFTABLES(NFT_MSG_NEWTABLE), NLM_F_CREATE | NLM_F_EXCL, OF_IPV4, 0);
	text(NFTA_TABLE_NAME, "plm");
	message(NFTABLES(NFT_MSG_NEWCHAIN), NLM_F_CREATE, OF_IPV4, 0);
	text(NFTA_CHAIN_TABLE, "plm");
	text(NFTA_CHAIN_NAME, "forwarded");
	struct nlattr *hook = attribute(NFTA_CHAIN_HOOK | NLA_F_NESTED, "", 0);
	number(NFTA_HOOK_HOOKNUM, FORWARDED);
	number(NFTA_HOOK_PRIORITY, 0);
	shut(hook);
	text(NFTA_CHAIN_TYPE, "filter");
	message(NFTABLES(NFT_MSG_NEWRULE), NLM_F_CREATE | NLM_F_APPEND | NLM_F_ACK, OF_IPV4, 0);
	text(NFTA_RULE_TABLE, "plm");
	text(NFTA_RULE_CHAIN, "forwarded");
	struct nlattr *all = attribute(NFTA_RULE_EXPRESSIONS | NLA_F_NESTED, "", 0);
	struct nlattr *one = attribute(NFTA_LIST_ELEM | NLA_F_NESTED, "", 0);
	text(NFTA_EXPR_NAME, "counter");
	attribute(NFTA_EXPR_DATA | NLA_F_NESTED, "", 0);
	shut(one);
	shut(all);
	return send();
}

long filter_delete(const char **what) {
	*what = "deleting the rules of the packet filter";
	begin();
	message(NFTABLES(NFT_MSG_DELTABLE), NLM_F_ACK, OF_IPV4, 0);
	text(NFTA_TABLE_NAME, "plm");
	return send();
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
