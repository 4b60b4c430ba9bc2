# shellcheck shell=bash
# shellcheck disable=SC2154 # name, run, daemon, client, state, bridge, subnet are set by the engine's script
# Shared by the scripts of LXD and Incus, which are one program with two names. Sourced, never run.
#
# The engine's script sets: daemon and client (arrays: the commands), state (the daemon's
# directory), prefix (LXD or INCUS, of its environment variables), usual (sockets where a daemon
# of the user's would listen), bridge and subnet (the first three numbers).

private() { printf '%s\n' "$state/unix.socket"; }
pidfile() { printf '%s\n' "$run/daemon.pid"; }

# ask SOCKET ARGUMENTS...: the client, on the daemon at that socket.
ask() {
	local socket=$1
	shift
	env "${prefix}_SOCKET=$socket" "${prefix}_CONF=$run/conf" timeout 60 "${client[@]}" "$@"
}
answers() { [ -S "$1" ] && ask "$1" query /1.0 >/dev/null 2>&1; }
socket() {
	local s
	for s in "${usual[@]}" "$(private)"; do
		answers "$s" && { printf '%s\n' "$s"; return 0; }
	done
	return 1
}
is_up() { socket >/dev/null; }
ready_or_dead() { answers "$(private)" || ! saved_pid "$(pidfile)" >/dev/null; }

# lxd_up: a daemon of the lab's own, unless the user has one that answers.
lxd_up() {
	local s
	if s=$(socket) && [ "$s" != "$(private)" ]; then
		say "a daemon that is not ours answers at $s: using it as it is"
		return 0
	fi
	if [ -z "$s" ]; then
		note_cgroup lxc.pivot
		note_cgroup lxc
		unmount_below "$state" # of a daemon of ours that was killed
		rm -rf --one-file-system "$state"
		mkdir -p "$state"
		chmod 0711 "$state"
		say "starting ${daemon[0]##*/} (log: $run/daemon.log)"
		env "${prefix}_DIR=$state" setsid "${daemon[@]}" --group root >"$run/daemon.log" 2>&1 </dev/null 7>&- 9>&- &
		save_pid "$(pidfile)" $!
		if ! wait_until 60 ready_or_dead || ! answers "$(private)"; then
			say "${daemon[0]##*/} did not start; the end of $run/daemon.log:"
			tail -n 20 "$run/daemon.log" >&2
			lxd_down || true
			return 1
		fi
		ln -sfn "$(private)" "$run/unix.socket"
		lxd_network
	fi
	lxd_prove
}

# lxd_network: what `init` would make for a user: a bridge with addresses, in the default
# profile. Its own search for a free subnet asks the world outside and fails without one.
lxd_network() {
	local s
	s=$(private)
	# Of a daemon of ours that was killed: it is nobody's any more.
	if has_link "$bridge" && noted "$bridge"; then ip link delete "$bridge" || true; fi
	if has_link "$bridge"; then
		say "a link $bridge exists already: containers get no network by default"
		return 0
	fi
	note "$bridge"
	note ip_forward "$(cat /proc/sys/net/ipv4/ip_forward)"
	if ! ask "$s" network create "$bridge" "ipv4.address=$subnet.1/24" ipv4.nat=false ipv4.firewall=false \
		ipv6.address=none ipv6.firewall=false >"$run/network.log" 2>&1; then
		say "no bridge can be made here, containers get no network by default: $(tail -n 1 "$run/network.log")"
		return 0
	fi
	ask "$s" profile device add default eth0 nic "network=$bridge" name=eth0 >/dev/null
}

# lxd_prove: one container, on a pool that is gone afterwards.
lxd_prove() {
	local s rc=0 w
	s=$(private)
	lab_rootfs "$LAB_STATE/rootfs"
	w=$(mktemp -d "$run/proof.XXXXXX")
	printf 'architecture: %s\ncreation_date: 1\n' "$(uname -m)" >"$w/metadata.yaml"
	ln -s "$LAB_STATE/rootfs" "$w/rootfs"
	tar -C "$w" -cf "$w/image.tar" metadata.yaml
	tar -C "$LAB_STATE" -rf "$w/image.tar" rootfs
	lxd_unprove "$s"
	{
		ask "$s" storage create lab-proof dir && ask "$s" image import "$w/image.tar" --alias lab-proof &&
			ask "$s" init lab-proof lab-proof -s lab-proof -c "raw.lxc=lxc.init.cmd = /bin/busybox sleep 600" &&
			ask "$s" start lab-proof
	} >"$run/proof.log" 2>&1 </dev/null || rc=1
	if [ $rc = 0 ]; then
		proved env "${prefix}_SOCKET=$s" "${prefix}_CONF=$run/conf" "${client[@]}" exec lab-proof -- /bin/busybox echo ok || rc=1
	else
		say "$name does not run a container here:"
		tail -n 15 "$run/proof.log" >&2
	fi
	lxd_unprove "$s"
	rm -rf "$w"
	return $rc
}
lxd_unprove() {
	{
		ask "$1" delete -f lab-proof
		ask "$1" image delete lab-proof
		ask "$1" storage delete lab-proof
	} >/dev/null 2>&1 </dev/null || true
}

lxd_down() {
	local s n
	s=$(private)
	if [ -e "$(pidfile)" ]; then
		if answers "$s"; then
			for n in $(ask "$s" list --all-projects -f csv -c n 2>/dev/null); do
				say "a container is there: $n; end it first (plimsoll clean)"
				return 1
			done
			ask "$s" profile device remove default eth0 >/dev/null 2>&1 || true
			ask "$s" network delete "$bridge" >/dev/null 2>&1 || true # its dnsmasq outlives the daemon
		fi
		stop_saved "$(pidfile)" 30 || return 1
	elif is_up; then
		say "the daemon is not ours: left alone"
		return 0
	fi
	unmount_below "$state"
	rm -rf --one-file-system "$state" "$run/conf"
	rm -f "$run/unix.socket"
	if noted "$bridge" && has_link "$bridge"; then ip link delete "$bridge" || true; fi
	if noted ip_forward && ! has_link docker0 && ! has_link podman0; then
		before ip_forward >/proc/sys/net/ipv4/ip_forward
	fi
	undo_cgroup lxc.pivot
	undo_cgroup lxc
	rm -rf "$run/before"
}
