# shellcheck shell=bash
# Shared by the scripts of this folder: the storage node, a network namespace of its
# own behind a veth pair, so that what goes to the servers goes over a network. Sourced
# after ../lib.sh, never run.

node=plimlab-storage # the namespace
link=plimstor0       # our end of the pair; its other end is eth0
client=10.98.7.1     # our address
server=10.98.7.2     # the node's

on_node() { ip netns exec "$node" "$@"; }

node_up() {
	ip netns list | grep -q "^$node\b" || ip netns add "$node"
	if ! ip link show "$link" >/dev/null 2>&1; then
		ip link add "$link" type veth peer name eth0 netns "$node"
		ip addr add "$client/24" dev "$link"
		ip link set "$link" up
	fi
	on_node ip link set lo up
	on_node ip addr replace "$server/24" dev eth0
	on_node ip link set eth0 up
}

# node_down: the pair goes with its namespace. Processes that still run there keep it: they
# are ended before.
node_down() {
	ip link del "$link" 2>/dev/null || true
	ip netns del "$node" 2>/dev/null || true
}

# daemon NAME COMMAND...: start a server on the node, in a session of its own, and note it.
daemon() {
	local what=$1 pid
	shift
	! saved_pid "$run/$what.pid" >/dev/null || return 0
	setsid ip netns exec "$node" "$@" >>"$run/$what.log" 2>&1 </dev/null 7>&- &
	pid=$!
	save_pid "$run/$what.pid" "$pid"
}

# unmounted DIR: unmount it, lazily if it does not go.
unmounted() {
	mountpoint -q "$1" || return 0
	timeout 20 umount "$1" 2>/dev/null || umount -l "$1"
}

# lab_storage up|down|status: the scripts define storage_up, storage_down and is_up.
lab_storage() {
	LAB_SELF=lab/storage/$name
	run=$LAB_RUN/storage-$name
	mnt=$run/mnt
	case ${1:-} in
	up)
		lab_init
		mkdir -p "$run" "$mnt"
		exec 7>"$LAB_RUN/storage.lock"
		flock -w 600 7 || die "another script of lab/storage has held $LAB_RUN/storage.lock for ten minutes"
		provide "${needs[@]}"
		is_up || { storage_down; node_up; storage_up; }
		is_up || die "$name did not come up; its logs are in $run"
		printf '%s\n' "$mnt"
		;;
	down)
		need_root
		[ -d "$run" ] || return 0
		exec 7>"$LAB_RUN/storage.lock"
		flock -w 600 7 || die "another script of lab/storage has held $LAB_RUN/storage.lock for ten minutes"
		storage_down
		rm -rf --one-file-system "$run"
		# The node goes with the last file system on it.
		compgen -G "$LAB_RUN/storage-*/" >/dev/null || node_down
		;;
	status)
		if is_up; then printf '%s is up at %s, its server at %s\n' "$name" "$mnt" "$server"; else printf '%s is down\n' "$name"; return 1; fi
		;;
	*)
		printf 'usage: %s up|down|status\n%s\n' "$LAB_SELF" "$summary" >&2
		exit 2
		;;
	esac
}
