# shellcheck shell=bash
# shellcheck disable=SC2154 # name, title, run, socket, bridge, gateway are set by the engine's script
# Shared by the engines of the second generation: newer than the distribution's, on sockets and
# paths of their own, beside the first. Sourced, never run.

tree=$LAB_STATE/$name
bin=$tree/bin
machine=$(uname -m)-linux-gnu

# What several of them have: releases, for released; crun of Debian sid, with what it is linked with,
# for unpacked.
# shellcheck disable=SC2034 # in the engines' scripts
newer_runc=1.5.3 newer_containerd=2.4.2 newer_crun="crun=1.28-1"
# shellcheck disable=SC2034
crun_libraries=(libc6 libblake3-0 libjson-c5 libseccomp2 libcap2 libsystemd0)

engine_lacks() { [ -e "$tree/complete" ] || { echo "$title"; return 1; }; }

# released PROGRAM VERSION: build a release from its Go module, by Plimsoll's own means, and put
# its programs into $bin. It is kept where `plimsoll releases` keeps what it builds.
released() {
	local line
	PATH=$PATH:/usr/local/go/bin
	have go || { say "needs Go, to build $1 $2 (lab/setup says how to get it)"; return 1; }
	say "building $1 $2, unless it was built before (log: $run/build.log)"
	if ! (cd "$LAB_DIR/.." && CGO_ENABLED=0 timeout 600 go build -trimpath -o "$run/plimsoll" ./cmd/plimsoll &&
		timeout 3600 "$run/plimsoll" releases "$1" "$2" --build-only) >"$run/built" 2>"$run/build.log" </dev/null; then
		say "it could not be built:"
		tail -n 15 "$run/build.log" >&2
		rm -f "$run/plimsoll"
		return 1
	fi
	rm -f "$run/plimsoll"
	mkdir -p "$bin"
	while read -r line; do
		install -m 755 "${line#*=}" "$bin/${line%%:*}" || return 1
	done <"$run/built"
}

# unpacked PACKAGE=VERSION...: programs of Debian sid, unpacked into $bin. Those that want a newer C
# library get one of their own, with the libraries that follow behind --.
unpacked() {
	local work p rc=0 f libraries='' packages=() own=()
	case $(lab_distro) in debian\ *) ;; *) say "$* are packages of Debian: not for $(lab_distro)"; return 1 ;; esac
	provide readelf:binutils patchelf:patchelf || return 1
	for p in "$@"; do
		if [ "$p" = -- ]; then libraries=1; elif [ -n "$libraries" ]; then own+=("$p"); else packages+=("$p"); fi
	done
	say "fetching ${packages[*]} of Debian sid"
	mkdir -p "$bin"
	work=$(mktemp -d "$tree/.unpack.XXXXXX")
	(cd "$work" && "$LAB_DIR/private-apt" update && "$LAB_DIR/private-apt" download "${packages[@]}" "${own[@]}") >"$run/fetch.log" 2>&1 || rc=1
	if [ $rc = 0 ]; then
		for f in "$work"/*.deb; do
			p=${f##*/} p=${p%%_*}
			case " ${own[*]} " in *" $p "*) dpkg -x "$f" "$work/rt" ;; *) dpkg -x "$f" "$work/root" ;; esac || rc=1
		done
		assemble "$work" || rc=1
	else
		say "could not fetch it. sid has one version of a package at a time: where that is newer by now, change the version in lab/engines/$name"
		tail -n 5 "$run/fetch.log" >&2
	fi
	rm -rf --one-file-system "$work"
	return $rc
}

# assemble DIR: the programs of DIR/root into $bin, with the libraries of DIR/rt where there are any.
assemble() {
	local f loader=''
	if [ -d "$1/rt" ]; then
		mkdir -p "$tree/rt"
		find "$1/rt" -path "*/$machine/*" -name '*.so*' -exec cp -a {} "$tree/rt/" \; || return 1
		loader=$(find "$tree/rt" -name 'ld-linux*' | head -n 1)
	fi
	find "$1/root" \( -path '*/usr/bin/*' -o -path '*/usr/sbin/*' -o -path '*/usr/lib/podman/*' -o -path '*/usr/libexec/podman/*' \) -type f -perm -100 |
		while read -r f; do
			install -m 755 "$f" "$bin/${f##*/}" || exit 1
			f=$bin/${f##*/}
			if [ -n "$loader" ] && readelf -l "$f" 2>/dev/null | grep -q interpreter; then
				patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$tree/rt:/usr/lib/$machine" "$f" || exit 1
			fi
		done
}

# once COMMAND...: what is installed is kept for as long as the script that installs it is the same.
once() {
	local sum
	sum=$(cat "$LAB_DIR/engines/$name" "$LAB_DIR/newer.sh" | cksum)
	[ "$(cat "$tree/complete" 2>/dev/null)" != "$sum" ] || return 0
	rm -rf --one-file-system "$bin" "$tree/rt" "$tree/complete"
	mkdir -p "$tree"
	"$@" || return 1
	printf '%s\n' "$sum" >"$tree/complete"
}

# ---- a second Docker ------------------------------------------------------

# Beside another dockerd in the same network namespace it must neither own docker0 nor write
# packet filter rules: its bridge is made here, and nothing on it leaves the machine.
docker_config() {
	cat <<J
{"data-root": "$tree/data", "exec-root": "$run/exec", "pidfile": "$run/docker.pid", "hosts": ["unix://$socket"],
 "containerd": "$run/containerd.sock", "cgroup-parent": "/plimsoll-$name/docker", "bridge": "$bridge",
 "iptables": false, "ip6tables": false, "ip-forward": false, "ip-masq": false, "runtimes": {"crun": {"path": "$bin/crun"}}}
J
}
containerd_config() {
	cat <<T
version = 2
root = "$tree/containerd"
state = "$run/containerd"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"]
[grpc]
address = "$run/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
path = "$tree/containerd-opt"
T
}

docker_client() { timeout 60 "$bin/docker" -H "unix://$socket" "$@"; }
docker_answers() { [ -S "$socket" ] && docker_client version >/dev/null 2>&1; }
docker_version() { "$bin/dockerd" --version 2>/dev/null | awk '{sub(",","",$3); print $3}'; }
docker_ready_or_dead() { docker_answers || ! saved_pid "$run/dockerd.pid" >/dev/null || ! saved_pid "$run/containerd.pid" >/dev/null; }

# docker_up: PATH begins with $bin, so that all that is started is of this generation.
docker_up() {
	if ! has_link "$bridge"; then
		note "$bridge"
		ip link add "$bridge" type bridge && ip address add "$gateway" dev "$bridge" && ip link set "$bridge" up || return 1
	fi
	[ -e /run/containerd ] || note run_containerd
	note_cgroup "plimsoll-$name"
	rm -f "$socket" "$run/docker.pid" "$run/containerd.sock" # a dead daemon's
	mkdir -p "$tree/data"
	docker_config >"$run/daemon.json"
	containerd_config >"$run/containerd.toml"
	say "starting containerd and dockerd (logs: $run/containerd.log, $run/dockerd.log)"
	setsid containerd --config "$run/containerd.toml" >"$run/containerd.log" 2>&1 </dev/null 7>&- 9>&- &
	save_pid "$run/containerd.pid" $!
	wait_until 30 test -S "$run/containerd.sock" || true # dockerd says what it lacks
	setsid dockerd --config-file "$run/daemon.json" >"$run/dockerd.log" 2>&1 </dev/null 7>&- 9>&- &
	save_pid "$run/dockerd.pid" $!
	if ! wait_until 60 docker_ready_or_dead || ! docker_answers; then
		say "it did not start; the ends of its logs:"
		tail -n 10 "$run/containerd.log" "$run/dockerd.log" >&2
		docker_down || true
		return 1
	fi
	if ! docker_client image inspect plimsoll-lab:proof >/dev/null 2>&1; then
		lab_rootfs "$LAB_STATE/rootfs"
		tar -C "$LAB_STATE/rootfs" -c . | docker_client import - plimsoll-lab:proof >/dev/null || return 1
	fi
	proved "$bin/docker" -H "unix://$socket" run --rm --network none plimsoll-lab:proof /bin/busybox echo ok
}

docker_down() {
	# A shim outlives its daemons, so what still runs is ended while there is one.
	if docker_answers; then docker_client ps -q | while read -r id; do docker_client kill "$id" >/dev/null || true; done; fi
	[ ! -e "$run/dockerd.pid" ] || stop_saved "$run/dockerd.pid" 30 || return 1
	[ ! -e "$run/containerd.pid" ] || stop_saved "$run/containerd.pid" 30 || return 1
	unmount_below "$run"
	unmount_below "$tree/data"
	unmount_below "$tree/containerd"
	rm -rf --one-file-system "$run/exec" "$run/containerd" "$run/docker.pid" "$tree/containerd-opt"
	rm -f "$socket" "$run"/containerd.sock*
	if noted "$bridge" && has_link "$bridge"; then ip link delete "$bridge" || true; fi
	undo_run_containerd
	undo_cgroup "plimsoll-$name"
	rm -rf "$run/before"
}
