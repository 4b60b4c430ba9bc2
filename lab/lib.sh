# shellcheck shell=bash
# Shared by the scripts of the lab. Sourced, never run.
#
# What is written where:
#   $LAB_RUN    what must not outlive a boot: pid files, logs, the ledger of what to undo
#   $LAB_STATE  what may: unpacked programs, image stores, the rootless user's home
# Nothing else is written, except distribution packages and what the ledger undoes.

set -euo pipefail
export LC_ALL=C
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin # an ordinary user's PATH lacks them

LAB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LAB_STATE=${PLIMSOLL_LAB_STATE:-/var/lib/plimsoll-lab}
LAB_RUN=${PLIMSOLL_LAB_RUN:-/run/plimsoll-lab}
LAB_DEFAULT_ENGINES="runc crun runsc docker containerd podman podman-rootless charliecloud apptainer bubblewrap"
LAB_TEST_ENGINES="docker-rootless nspawn lxd incus lxc vm slurm sshd" # what the tests want in addition, and first
LAB_BRIDGES="plimlab0 plimlab1 plimlab2 plimdocker28 plimdocker29 plimlxd0 plimincus0 lxcbr0 plimslurm0" # that engines' scripts make; one of the user's is not noted
LAB_SELF=$(basename "$0")
# An engine's script sets the first four, lab_engine the last. places are where Plimsoll finds the
# engine beside the usual places: WORD PATH, see docs/lab.md.
# builds are what a run takes as --build to measure it: PROGRAM:NAME=FILE or =unix://SOCKET.
name='' summary='' needs=() places=() builds=() run=''

say() { printf '%s: %s\n' "$LAB_SELF" "$*" >&2; }
die() {
	say "$*"
	exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
is_root() { [ "$(id -u)" = 0 ]; }
need_root() { is_root || die "needs root: run it again with sudo"; }

# lab_engines: the engines asked for, one a line, each checked against the scripts that exist.
lab_engines() {
	local e
	for e in ${LAB_ENGINES:-$LAB_DEFAULT_ENGINES}; do
		case $e in
		*/* | .* | tools) die "LAB_ENGINES: no such engine: $e" ;;
		esac
		[ -x "$LAB_DIR/engines/$e" ] || die "LAB_ENGINES: no such engine: $e (there are: $(lab_all_engines))"
		printf '%s\n' "$e"
	done
}

lab_all_engines() { (cd "$LAB_DIR/engines" && printf '%s ' *) | sed 's/ tools / /; s/ $//'; }

# lab_test_engines: what the tests want, but for what runs only when LAB_ENGINES names it.
lab_test_engines() {
	local e
	printf '%s' "$LAB_DEFAULT_ENGINES $LAB_TEST_ENGINES"
	for e in $(lab_all_engines); do
		case " $LAB_DEFAULT_ENGINES $LAB_TEST_ENGINES " in *" $e "*) continue ;; esac
		grep -q 'LAB_ENGINES names it' "$LAB_DIR/engines/$e" || printf ' %s' "$e"
	done
}

# ---- state ----------------------------------------------------------------

# lab_own DIR USUAL: make the lab's directory, or see that it is the lab's: what is in it will be
# removed one day. It is where the lab has made it or has found it empty, which a mark in it
# tells; at its usual place it may be from before there were marks.
lab_mark=.plimsoll-lab
lab_own() {
	if [ ! -e "$1" ] && [ ! -L "$1" ]; then
		mkdir -p "$1"
	elif [ "$(stat -c '%F %u' "$1")" != "directory 0" ] || [ -n "$(find "$1" -maxdepth 0 \( -perm /002 -o -perm /020 ! -gid 0 \))" ]; then
		die "$1 must be a directory that root alone may write to, and no link"
	elif [ ! -e "$1/$lab_mark" ] && [ "$1" != "$2" ] && [ -n "$(ls -A "$1")" ]; then
		die "$1 isn't the lab's: it holds something, and what is there would be removed. Name an empty directory, or one that is yet to be made"
	fi
	[ -e "$1/$lab_mark" ] || : >"$1/$lab_mark"
}

# lab_init: make the lab's directories. What an earlier boot left in $LAB_RUN is void: its
# processes, mounts and links are gone, and undoing them twice could hit somebody else's.
lab_init() {
	need_root
	lab_own "$LAB_STATE" /var/lib/plimsoll-lab
	lab_own "$LAB_RUN" /run/plimsoll-lab
	local boot
	boot=$(cat /proc/sys/kernel/random/boot_id)
	if [ "$(cat "$LAB_RUN/boot-id" 2>/dev/null)" != "$boot" ]; then
		find "$LAB_RUN" -xdev -mindepth 1 -maxdepth 1 ! -name '*.lock' ! -name "$lab_mark" -exec rm -rf --one-file-system {} +
		printf '%s\n' "$boot" >"$LAB_RUN/boot-id"
	fi
}

# note NAME [VALUE]: remember the state before our change; the first note stays, so that a
# second `up` does not take our own change for the original.
note() { [ -e "$run/before/$1" ] || { mkdir -p "$run/before" && printf '%s\n' "${2-}" >"$run/before/$1"; }; }
noted() { [ -e "$run/before/$1" ]; }
before() { cat "$run/before/$1" 2>/dev/null; }
forget() { rm -f "$run/before/$1"; }

# tell_places, hide_places: this engine's lines in the file that Plimsoll reads.
tell_places() {
	local line
	[ ${#places[@]} -gt 0 ] || return 0
	install -d -m 755 /run/plimsoll
	for line in "${places[@]}"; do
		grep -qsxF "$line" /run/plimsoll/places || printf '%s\n' "$line" >>/run/plimsoll/places && chmod 644 /run/plimsoll/places
	done
}
hide_places() {
	[ ${#places[@]} -gt 0 ] && [ -e /run/plimsoll/places ] || return 0
	grep -vxF -f <(printf '%s\n' "${places[@]}") /run/plimsoll/places >/run/plimsoll/places.new || true
	if [ -s /run/plimsoll/places.new ]; then mv /run/plimsoll/places.new /run/plimsoll/places; else rm -f /run/plimsoll/places.new /run/plimsoll/places && rmdir --ignore-fail-on-non-empty /run/plimsoll; fi
}

# ---- processes ------------------------------------------------------------

# start_time PID: in clock ticks since boot; with the pid it names one process for ever.
start_time() {
	local s
	s=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	s=${s##*) }
	# shellcheck disable=SC2086
	set -- $s
	printf '%s\n' "${20}"
}

save_pid() { printf '%s %s\n' "$2" "$(start_time "$2")" >"$1"; }

# saved_pid FILE: print the pid if that very process still runs.
saved_pid() {
	local pid started
	read -r pid started 2>/dev/null <"$1" || return 1
	[ -n "$started" ] && [ "$(start_time "$pid" || true)" = "$started" ] || return 1
	case $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) in Z* | '') return 1 ;; esac
	printf '%s\n' "$pid"
}

# stop_saved FILE SECONDS: TERM, wait, then KILL; only the process that was saved.
stop_saved() {
	local pid
	pid=$(saved_pid "$1") || { rm -f "$1"; return 0; }
	kill -TERM "$pid" 2>/dev/null || true
	if ! wait_until "$2" pid_is_gone "$1"; then
		say "process $pid did not end in $2 s after SIGTERM; sending SIGKILL"
		kill -KILL "$pid" 2>/dev/null || true
		wait_until 5 pid_is_gone "$1" || { say "process $pid cannot be ended"; return 1; }
	fi
	rm -f "$1"
}
pid_is_gone() { ! saved_pid "$1" >/dev/null; }

# wait_until SECONDS COMMAND...: poll ten times a second until it succeeds.
wait_until() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt "$end" ] || return 1
		sleep 0.1
	done
}

# ---- packages -------------------------------------------------------------

# Needs are words: `program:package` (wanted while the program is not on PATH), `+package`
# (wanted while the package is not installed: data, libraries), each with `?` at the end when
# the engine also works without it, or when the package exists in some suites only.

lab_distro() {
	local ID='' VERSION_ID='' VERSION_CODENAME=''
	# shellcheck disable=SC1091
	[ -r /etc/os-release ] && . /etc/os-release
	printf '%s %s\n' "${ID:-unknown}" "${VERSION_ID:-${VERSION_CODENAME:-unknown}}"
}
lab_distro_supported() {
	have apt-get && have dpkg-query || return 1
	case $(lab_distro) in
	"debian 12" | "debian 13" | "ubuntu 22.04" | "ubuntu 24.04") return 0 ;;
	*) return 1 ;;
	esac
}
pkg_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
pkg_known() { [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *\([^(].*\)/\1/p')" ]; }
lab_lists_empty() { [ -z "$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -print -quit 2>/dev/null)" ]; }

# need_met WORD
need_met() {
	local n=${1%\?}
	case $n in
	+*) ! have dpkg-query || pkg_installed "${n#+}" ;;
	*) have "${n%%:*}" ;;
	esac
}

# missing WORD...: the words that are not met, one a line; an optional one only if apt has it.
missing() {
	local n p
	for n in "$@"; do
		need_met "$n" && continue
		case $n in
		*\?)
			p=${n%\?} p=${p##*:} p=${p#+}
			have apt-cache || continue
			lab_lists_empty || pkg_known "$p" || continue
			;;
		esac
		printf '%s\n' "$n"
	done
}
need_package() { local p=${1%\?}; p=${p##*:}; printf '%s\n' "${p#+}"; }

# lab_consent LIST: may these packages be installed?
lab_consent() {
	[ "${ASSUME_YES:-}" = 1 ] || [ -n "${CI:-}" ] || [ "${LAB_CONSENT:-}" = 1 ] && return 0
	printf 'These packages of your distribution are needed and would be installed:\n  %s\n' "$(echo "$1" | fold -s -w 90 | sed '2,$s/^/  /')" >&2
	if [ -t 0 ] && [ -t 2 ]; then
		local answer
		read -r -p "Install them now? [y/N] " answer
		case $answer in
		[yY] | [yY][eE][sS]) return 0 ;;
		esac
		return 1
	fi
	say "there is no terminal to ask on: set ASSUME_YES=1 to agree, or install them yourself: apt-get install --no-install-recommends $1"
	return 1
}

# apt_locked ARGUMENTS...: apt-get, one at a time. Images made for containers carry a hook that
# deletes every downloaded package after any `apt-get update`, also those that an install
# running beside it is about to unpack; dpkg's own lock does not cover that.
apt_locked() {
	(
		flock -w 900 9 || die "another script of the lab has held the package lock for 15 minutes"
		DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=l APT_LISTCHANGES_FRONTEND=none \
			timeout 900 apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
			-o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@" \
			>>"$LAB_RUN/apt.log" 2>&1 </dev/null 9>&-
	) 9>"$LAB_RUN/apt.lock"
}

apt_update() {
	[ ! -e "$LAB_RUN/apt.updated" ] || [ -n "$(find "$LAB_RUN/apt.updated" -mmin +720 2>/dev/null)" ] || return 0
	say "apt-get update"
	apt_locked update || { say "apt-get update failed; using the lists that are there. Its last words:"; tail -n 5 "$LAB_RUN/apt.log" >&2; return 0; }
	touch "$LAB_RUN/apt.updated"
}

# kept_off UNIT...: a service that a package would start, and that nobody asked for.
kept_off() {
	local u
	mkdir -p /etc/systemd/system
	for u in "$@"; do
		[ -e "/etc/systemd/system/$u" ] || [ -e "/lib/systemd/system/$u" ] || ln -s /dev/null "/etc/systemd/system/$u"
	done
}

# provide WORD...: make these needs met. Fails with a clear message when that cannot be.
provide() {
	local words want=() n
	mapfile -t words < <(missing "$@")
	[ ${#words[@]} -gt 0 ] || return 0
	if ! lab_distro_supported; then
		local hard=()
		for n in "${words[@]}"; do case $n in *\?) ;; *) hard+=("${n%%:*}") ;; esac; done
		[ ${#hard[@]} -gt 0 ] || return 0
		say "$(lab_distro) is not a distribution this lab installs packages on (Debian 12, 13, Ubuntu 22.04, 24.04); install by hand: ${hard[*]#+}"
		return 1
	fi
	need_root
	local first
	first=$(for n in "${words[@]}"; do need_package "$n"; done | sort -u | tr '\n' ' ')
	if ! lab_consent "${first% }"; then
		for n in "${words[@]}"; do
			case $n in *\?) ;; *) say "not installed: ${first% }"; return 1 ;; esac
		done
		say "going on without ${first% }"
		return 0
	fi
	apt_update
	for n in "${words[@]}"; do
		first=$(need_package "$n")
		if pkg_known "$first"; then
			want+=("$first")
		else
			case $n in
			*\?) ;;
			*)
				say "the package $first is in none of this machine's apt sources (Ubuntu: is the universe component enabled?)"
				return 1
				;;
			esac
		fi
	done
	[ ${#want[@]} -gt 0 ] || return 0
	mapfile -t want < <(printf '%s\n' "${want[@]}" | sort -u) # several engines want the same
	case " ${want[*]} " in *" openssh-server "*) kept_off ssh.service ssh.socket ;; esac
	say "installing ${want[*]}"
	if ! apt_locked install --no-install-recommends "${want[@]}"; then
		say "apt-get install failed; repairing and trying once more"
		dpkg --configure -a >>"$LAB_RUN/apt.log" 2>&1 </dev/null || true
		apt_locked update || true
		if ! apt_locked install --no-install-recommends "${want[@]}"; then
			tail -n 15 "$LAB_RUN/apt.log" >&2
			say "could not install ${want[*]}; the whole log is $LAB_RUN/apt.log"
			return 1
		fi
	fi
	hash -r
	for n in "$@"; do
		case $n in *\?) continue ;; esac
		need_met "$n" || { say "$(need_package "$n") is installed, but ${n%%:*} is still not there"; return 1; }
	done
}

# ---- proving that an engine runs -----------------------------------------

# lab_rootfs DIR: a root file system of BusyBox alone, with the mount points engines expect.
lab_rootfs() {
	local d=$1 bb
	[ -x "$d/bin/busybox" ] && [ -e "$d/etc/passwd" ] && return 0
	bb=$(command -v busybox) || die "busybox is needed (package busybox-static)"
	mkdir -p "$d"/{bin,dev,etc,home,mnt,proc,root,run,sys,tmp,usr/bin,var/tmp}
	cp -f "$bb" "$d/bin/busybox"
	ln -sf busybox "$d/bin/sh"
	printf 'root:x:0:0:root:/root:/bin/sh\n' >"$d/etc/passwd"
	printf 'root:x:0:\n' >"$d/etc/group"
	: >"$d/etc/hosts"
	: >"$d/etc/resolv.conf"
}

# lab_bundle DIR: an OCI bundle that prints the word `ok`. It sets no resource limits: a
# process without CAP_SYS_RESOURCE may not raise them, and the runtimes' own default does.
lab_bundle() {
	lab_rootfs "$1/rootfs"
	cat >"$1/config.json" <<'J'
{"ociVersion": "1.0.2",
 "process": {"terminal": false, "user": {"uid": 0, "gid": 0}, "args": ["/bin/busybox", "echo", "ok"],
  "env": ["PATH=/bin"], "cwd": "/", "noNewPrivileges": true},
 "root": {"path": "rootfs", "readonly": true}, "hostname": "lab",
 "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
  {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=65536k"]}],
 "linux": {"namespaces": [{"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}]}}
J
}

# null_owner and null_back (what it said): runsc gives the file that it is handed as standard input,
# /dev/null, to the container's user; where it was root's, it is given back.
null_owner() { stat -c %u:%g /dev/null; }
null_back() { [ "$1" != 0:0 ] || [ "$(null_owner)" = 0:0 ] || chown 0:0 /dev/null; }

# proved COMMAND...: it must print the word `ok` and exit 0, in half a minute. Through a pipe:
# gVisor writes to a regular file at offset 0 and would overwrite what is there.
proved() {
	local out rc=0 null
	null=$(null_owner)
	out=$(timeout -k 5 30 "$@" 2>"$run/proof.log" </dev/null | cat; exit "${PIPESTATUS[0]}") || rc=$?
	null_back "$null"
	[ $rc = 0 ] && [ "$out" = ok ] && return 0
	say "$name is installed, but does not run a container here (exit status $rc, output \"$out\"):"
	tail -n 15 "$run/proof.log" >&2
	return 1
}

prove_runtime() { # PROGRAM FLAGS...
	lab_bundle "$LAB_STATE/bundle"
	local p=$1 id="lab-$name-$$" rc=0
	shift
	proved "$p" --root "$run/containers" "$@" run --bundle "$LAB_STATE/bundle" "$id" || rc=1
	[ $rc = 0 ] || timeout -k 5 15 "$p" --root "$run/containers" "$@" delete --force "$id" >/dev/null 2>&1 || true
	return $rc
}

# ---- the verbs of an engine ----------------------------------------------

# engine_lacks: print the first program that is not there, and fail. An engine's script may
# define its own.
engine_lacks() {
	local w
	for w in "${needs[@]}"; do
		case $w in *\? | +*) continue ;; esac
		need_met "$w" || { printf '%s\n' "${w%%:*}"; return 1; }
	done
}

# An engine's script sets name, summary and needs, defines version, is_up, engine_up and
# engine_down, and ends with: lab_engine "$@"
lab_engine() {
	LAB_SELF=lab/$name
	run=$LAB_RUN/$name
	case ${1:-} in
	up)
		lab_init
		mkdir -p "$run"
		exec 7>"$run.lock"
		flock -w 600 7 || die "another up or down of $name has held $run.lock for ten minutes"
		provide "${needs[@]}" || exit 1
		if ! { [ -e "$run/up" ] && is_up; }; then
			engine_up 7>&- || exit 1
			touch "$run/up"
		fi
		let_pass 7>&-
		(flock 8; tell_places) 8>"$LAB_RUN/places.lock" 7>&-
		printf '%s %s ok\n' "$name" "$(version)"
		;;
	down)
		lab_init
		mkdir -p "$run"
		exec 7>"$run.lock"
		flock -w 600 7 || die "another up or down of $name has held $run.lock for ten minutes"
		engine_down 7>&- || exit 1
		stop_passing
		(flock 8; hide_places) 8>"$LAB_RUN/places.lock" 7>&-
		rm -f "$run/up"
		printf '%s down\n' "$name"
		;;
	status)
		local w
		if ! w=$(engine_lacks); then
			printf '%s absent - (no %s)\n' "$name" "$w"
			exit 3
		fi
		if is_up; then
			printf '%s up %s\n' "$name" "$(version)"
		else
			printf '%s down %s\n' "$name" "$(version)"
			exit 3
		fi
		;;
	needs) printf '%s\n' "${needs[@]}" ;; # for lab/up and lab/setup
	builds) [ ${#builds[@]} = 0 ] || printf '%s\n' "${builds[@]}" ;;
	-h | --help)
		printf '%s: %s\n\nusage: lab/engines/%s up | down | status | needs | builds\n' "$name" "$summary" "$name"
		printf '  up      install what is missing, start it, prove it with a container; again: does nothing\n'
		printf '  down    stop what up started, restore what it changed\n'
		printf '  status  up, down or absent, and the version; exit status 0 when up, else 3\n'
		printf '  needs   the programs and packages it takes\n'
		printf '  builds  what a run takes as --build to measure it; nothing where Plimsoll finds it by itself\n'
		;;
	*)
		printf 'usage: lab/engines/%s up | down | status | needs | builds (or -h)\n' "$name" >&2
		exit 2
		;;
	esac
}

# ---- the lab's bridges ----------------------------------------------------

# packet_filters: the iptables programs in force, one for each backend: what one accepts the
# other may still drop. Asking for a table of the older one would make it.
packet_filters() {
	local p seen=' ' v
	for p in iptables iptables-nft iptables-legacy; do
		v=$("$p" -V 2>/dev/null) || continue
		case $v in
		*nf_tables*) v=nft ;;
		*)
			v=legacy
			grep -qx filter /proc/net/ip_tables_names 2>/dev/null || continue
			;;
		esac
		case $seen in *" $v "*) continue ;; esac
		seen+="$v "
		printf '%s\n' "$p"
	done
}

bridge_rule() { printf '%s\n' -i "$1" -o "$1" -m comment --comment plimsoll-lab -j ACCEPT; }

# let_pass: where a packet filter that sees bridged packets might drop them (Docker's policy),
# those of the bridges that the lab has made pass, from a bridge to itself. After every up, since
# Docker may come before a bridge or after it.
let_pass() {
	case $(cat /proc/sys/net/bridge/bridge-nf-call-iptables 2>/dev/null) in '' | 0) return 0 ;; esac
	local f p bridge rule
	(
		flock -w 60 6 || die "another script of the lab has held the packet filter for a minute"
		for p in $(packet_filters); do
			[ "$("$p" -w 5 -S FORWARD 2>/dev/null)" != "-P FORWARD ACCEPT" ] || continue
			for bridge in $LAB_BRIDGES; do
				for f in "$LAB_RUN"/*/before/"$bridge"; do
					[ -e "$f" ] || continue
					mapfile -t rule < <(bridge_rule "$bridge")
					! "$p" -w 5 -C FORWARD "${rule[@]}" 2>/dev/null || continue
					printf '%s %s\n' "$p" "$bridge" >>"${f%/before/*}/passing"
					"$p" -w 5 -I FORWARD "${rule[@]}" || say "$p: packets between containers on $bridge may be dropped"
				done
			done
		done
	) 6>"$LAB_RUN/packet-filter.lock"
}

# stop_passing: take away what let_pass has made for this engine.
stop_passing() {
	[ -e "$run/passing" ] || return 0
	local p bridge rule
	while read -r p bridge; do
		mapfile -t rule < <(bridge_rule "$bridge")
		while "$p" -w 5 -C FORWARD "${rule[@]}" 2>/dev/null; do "$p" -w 5 -D FORWARD "${rule[@]}" || break; done
	done <"$run/passing"
	rm -f "$run/passing"
}

# ---- shared undoing -------------------------------------------------------

# note_cgroup NAME / undo_cgroup NAME: the directory of this name at the top of every hierarchy.
note_cgroup() { compgen -G "/sys/fs/cgroup/*/$1" >/dev/null || [ -d "/sys/fs/cgroup/$1" ] || note "cgroup-$1"; }
undo_cgroup() {
	noted "cgroup-$1" || return 0
	local d
	for d in /sys/fs/cgroup/*/"$1" "/sys/fs/cgroup/$1"; do
		[ -d "$d" ] && [ ! -L "$d" ] && prune_cgroup "$d"
	done
	forget "cgroup-$1"
}
# prune_cgroup DIR: remove it and what is below; the kernel keeps whatever still has processes.
prune_cgroup() { find "$1" -xdev -depth -type d -exec rmdir {} + 2>/dev/null || true; }

# undo_run_containerd: what shims make at a fixed place. One that was killed leaves its socket,
# at which nobody listens any more.
undo_run_containerd() {
	noted run_containerd && [ -d /run/containerd ] || return 0
	local s
	find /run/containerd/s -xdev -type s 2>/dev/null | while read -r s; do grep -qF -- "$s" /proc/net/unix || rm -f "$s"; done
	find /run/containerd -xdev -depth -type d -empty -delete 2>/dev/null || true
}

# has_link NAME: not by /sys/class/net, which shows the network namespace that mounted /sys.
has_link() { ip link show dev "$1" >/dev/null 2>&1; }

# unmount_below DIR: every mount at or below it, the innermost first.
unmount_below() {
	local m
	awk -v d="$1" '$2==d || index($2, d "/")==1 {print $2}' /proc/self/mounts | sort -r | while read -r m; do
		umount "$m" 2>/dev/null || umount -l "$m" 2>/dev/null || say "cannot unmount $m"
	done
}

# undo_chains PATTERN: take iptables chains that match out of the filter and nat tables, with the
# rules that lead to them.
undo_chains() {
	have iptables || return 0
	local t c rule
	for t in nat filter raw; do
		iptables -w 5 -t "$t" -S 2>/dev/null | grep -E -- "^-A .*$1" | while read -r rule; do
			eval "set -- ${rule#-A }" # the quoting is iptables' own
			iptables -w 5 -t "$t" -D "$@" 2>/dev/null || true
		done
		for c in $(iptables -w 5 -t "$t" -S 2>/dev/null | sed -n 's/^-N //p' | grep -E "$1"); do
			iptables -w 5 -t "$t" -F "$c" 2>/dev/null || true
		done
		for c in $(iptables -w 5 -t "$t" -S 2>/dev/null | sed -n 's/^-N //p' | grep -E "$1"); do
			iptables -w 5 -t "$t" -X "$c" 2>/dev/null || true
		done
	done
}

# lab_runsc_flags: one a line. The platform is the fastest that this version knows without
# hardware: systrap since 2023, ptrace before; KVM hangs on many virtual machines. No network
# of its own: gVisor's needs rights that constrained machines do not give.
lab_runsc_flags() {
	local usage
	usage=$(runsc flags 2>&1 || true)
	if grep -A1 -e '-platform ' <<<"$usage" | grep -q systrap; then
		echo --platform=systrap
	else
		echo --platform=ptrace
	fi
	echo --network=none
}

# lab_podman_limits: the limits podman sets by default are above what a process without
# CAP_SYS_RESOURCE may set; these are what this process has. It lowers nproc to 32768 itself.
lab_podman_limits() {
	local files procs
	files=$(ulimit -Hn) procs=$(ulimit -Hu)
	[ "$files" != unlimited ] || files=1048576
	{ [ "$procs" != unlimited ] && [ "$procs" -lt 32768 ]; } || procs=32768
	printf '%s\n' --ulimit "nofile=$files:$files" --ulimit "nproc=$procs:$procs"
}
