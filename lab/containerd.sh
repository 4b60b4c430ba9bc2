# shellcheck shell=bash
# shellcheck disable=SC2154 # name, run, state, bridge, subnet are set by the engine's script
# Shared by the scripts of two generations of containerd. Sourced, never run.
#
# The engine's script sets: name, state (what outlives a boot), bridge and subnet of the pods'
# network; and PATH, where the programs are not the machine's.

home=$LAB_RUN/$name # as $run, which is set later
socket=$home/containerd.sock
pidfile=$home/containerd.pid
log=$home/containerd.log
pause=localhost/plimsoll-lab/pause:1

ctl() { timeout 30 ctr --address "$socket" "$@"; }
answers() { [ -S "$1" ] && timeout 5 ctr --address "$1" --connect-timeout 2s version >/dev/null 2>&1; }
is_up() { answers "$socket"; }
version() { containerd --version 2>/dev/null | awk '{sub("^v","",$3); sub("~.*","",$3); print $3}'; }

# ---- configuration --------------------------------------------------------

cni_plugins() {
	local d
	for d in /usr/lib/cni /opt/cni/bin /usr/libexec/cni; do
		[ ! -x "$d/bridge" ] || { printf '%s\n' "$d"; return 0; }
	done
	printf '/opt/cni/bin\n'
}

# runtimes PREFIX: a table for each runtime handler, below the plug-in's own.
runtimes() {
	local r p
	for r in runc crun youki runsc; do
		p=$(command -v "$r") || continue
		[ "$r" != runsc ] || p=$home/runsc
		printf '\n[plugins."%s".containerd.runtimes.%s]\nruntime_type = "io.containerd.runc.v2"\n' "$1" "$r"
		printf '[plugins."%s".containerd.runtimes.%s.options]\nBinaryName = "%s"\nSystemdCgroup = false\n' "$1" "$r" "$p"
	done
}

# config: version 2 is what 1.x reads, version 3 what 2.x does.
config() {
	local format=2 images=io.containerd.grpc.v1.cri runtime=io.containerd.grpc.v1.cri
	case $(version) in
	0.* | 1.*) ;;
	*) format=3 images=io.containerd.cri.v1.images runtime=io.containerd.cri.v1.runtime ;;
	esac
	cat <<T
version = $format
root = "$state"
state = "$run/state"
[grpc]
address = "$socket"
[plugins."io.containerd.internal.v1.opt"]
path = "$state-opt"
[plugins."io.containerd.nri.v1.nri"]
disable = true
[plugins."$runtime"]
restrict_oom_score_adj = true
disable_apparmor = true
T
	if [ $format = 2 ]; then
		printf 'sandbox_image = "%s"\n' "$pause"
		printf '[plugins."%s".containerd]\nsnapshotter = "overlayfs"\ndefault_runtime_name = "runc"\n' "$runtime"
		printf '[plugins."%s".cni]\nbin_dir = "%s"\nconf_dir = "%s"\n' "$runtime" "$(cni_plugins)" "$run/cni"
	else
		printf '[plugins."%s".containerd]\ndefault_runtime_name = "runc"\n' "$runtime"
		printf '[plugins."%s".cni]\nbin_dirs = ["%s"]\nconf_dir = "%s"\n' "$runtime" "$(cni_plugins)" "$run/cni"
		printf '[plugins."%s"]\nsnapshotter = "overlayfs"\n' "$images"
		printf '[plugins."%s".pinned_images]\nsandbox = "%s"\n' "$images" "$pause"
		# What serves the CRI to others does not need the network either.
		printf '[plugins."io.containerd.grpc.v1.cri"]\nstream_server_address = "127.0.0.1"\n'
	fi
	runtimes "$runtime"
}

# network: addresses and a bridge, no packet filter rules: nothing here leaves the machine.
network() {
	cat <<J
{"cniVersion": "0.4.0", "name": "plimsoll-lab", "plugins": [
 {"type": "bridge", "bridge": "$bridge", "isGateway": true, "ipMasq": false,
  "ipam": {"type": "host-local", "dataDir": "$run/addresses", "ranges": [[{"subnet": "$subnet"}]],
   "routes": [{"dst": "0.0.0.0/0"}]}}]}
J
}

wrapper() {
	printf '#!/bin/sh\n# containerd passes no flags to a runtime.\nexec %s %s "$@"\n' "$(command -v runsc)" "$(lab_runsc_flags | tr '\n' ' ')"
}

# pause_image FILE: a docker archive with what a pod's sandbox runs: something small that stays,
# also where it has no standard output at all, as under gVisor (Plimsoll's probe ends there).
pause_image() {
	local d arch=amd64 sum
	d=$(mktemp -d "$run/pause.XXXXXX")
	case $(uname -m) in aarch64 | arm64) arch=arm64 ;; esac
	mkdir "$d/root"
	install -m 755 "$(command -v busybox)" "$d/root/busybox"
	tar -C "$d/root" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf "$d/layer.tar" .
	sum=$(sha256sum "$d/layer.tar")
	printf '{"architecture": "%s", "os": "linux", "config": {"Entrypoint": ["/busybox", "sleep", "1000000000"]}, "rootfs": {"type": "layers", "diff_ids": ["sha256:%s"]}}' \
		"$arch" "${sum%% *}" >"$d/config.json"
	printf '[{"Config": "config.json", "RepoTags": ["%s"], "Layers": ["layer.tar"]}]' "$pause" >"$d/manifest.json"
	tar -C "$d" -cf "$1" manifest.json config.json layer.tar
	rm -rf "$d"
}

# ---- up and down ----------------------------------------------------------

containerd_up() {
	has_link "$bridge" || note "$bridge"
	note ip_forward "$(cat /proc/sys/net/ipv4/ip_forward)"
	[ -e /run/containerd ] || note run_containerd
	[ -e /run/netns ] || note made-netns
	awk '$2=="/run/netns"{exit 1}' /proc/self/mounts && note run_netns
	note_cgroup k8s.io
	note_cgroup lab-plimsoll

	mkdir -p "$state" "$run/cni"
	network >"$run/cni/10-plimsoll-lab.conflist"
	if have runsc; then
		wrapper >"$home/runsc"
		chmod 755 "$home/runsc"
	fi
	config >"$run/config.toml"
	[ -S "$socket" ] && rm -f "$socket" # nobody answers: a dead daemon's
	say "starting containerd (log: $log)"
	setsid containerd --config "$run/config.toml" >"$log" 2>&1 </dev/null 7>&- 9>&- &
	save_pid "$pidfile" $!
	if ! wait_until 60 ready_or_dead || ! is_up; then
		say "containerd did not start; the end of $log:"
		tail -n 20 "$log" >&2
		containerd_down || true
		return 1
	fi
	prove || { containerd_down || true; return 1; }
}
ready_or_dead() { is_up || ! saved_pid "$pidfile" >/dev/null; }

prove() {
	local image=$run/pause.tar
	if [ -z "$(ctl -n k8s.io images ls -q name=="$pause")" ]; then
		pause_image "$image"
		ctl -n k8s.io images import "$image" >/dev/null || return 1
		rm -f "$image"
	fi
	# Whether the CRI answers and has its network is seen from outside by crictl or by a test.
	ctl plugins ls id==cri | awk 'NR>1 && $NF=="ok"{found=1} END{exit !found}' ||
		say "the CRI plug-in of this containerd is not ok: $(ctl plugins ls id==cri | tail -n 1)"
	lab_rootfs "$LAB_STATE/rootfs"
	proved ctr --address "$socket" -n lab-plimsoll run --rm --rootfs --runc-binary "$(command -v runc)" \
		"$LAB_STATE/rootfs" "lab-proof-$$" /bin/busybox echo ok || return 1
	ctl namespaces rm lab-plimsoll >/dev/null 2>&1 || true
}

# end_containers: a shim outlives its daemon, so what still runs is ended while there is one.
end_containers() {
	local ns id
	for ns in $(ctl namespaces ls -q); do
		for id in $(ctl -n "$ns" tasks ls -q); do
			ctl -n "$ns" tasks rm -f "$id" >/dev/null 2>&1 || say "cannot end the container $id"
		done
		for id in $(ctl -n "$ns" containers ls -q); do ctl -n "$ns" containers rm "$id" >/dev/null 2>&1 || true; done
	done
}

containerd_down() {
	! is_up || end_containers
	[ ! -e "$pidfile" ] || stop_saved "$pidfile" 30 || return 1
	unmount_below "$run"
	unmount_below "$state"
	rm -rf --one-file-system "$run/state" "$run/cni" "$run/addresses" "$state-opt"
	rm -f "$socket" "$socket.ttrpc" "$home/runsc" "$run/config.toml" "$run/pause.tar"
	if noted "$bridge" && has_link "$bridge"; then ip link delete "$bridge" || true; fi
	# Other engines' bridges need forwarding too: leave it on while one is there.
	if noted ip_forward && ! has_link podman0 && ! has_link docker0; then
		before ip_forward >/proc/sys/net/ipv4/ip_forward
	fi
	if noted run_netns && [ -z "$(find /run/netns -mindepth 1 -print -quit 2>/dev/null)" ] && ! have_podman_up; then
		unmount_below /run/netns
		! noted made-netns || rmdir /run/netns 2>/dev/null || true
	fi
	undo_run_containerd
	undo_cgroup k8s.io
	undo_cgroup lab-plimsoll
	rm -rf "$run/before"
}
have_podman_up() { [ -e "$LAB_RUN/podman/up" ]; }
