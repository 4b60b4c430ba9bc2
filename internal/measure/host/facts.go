//go:build linux

package host

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// Facts says what this machine is. What could not be read is left empty and
// named in the error; the rest of the facts holds all the same.
//
// stateDir is where the run's files lie; it need not exist yet.
func (m Machine) Facts(stateDir string) (record.Host, error) {
	h := record.Host{More: map[string]string{}}
	var bad []error
	note := func(err error) { bad = append(bad, err) }
	more := func(key, value string) {
		if value != "" {
			h.More[key] = value
		}
	}

	h.Name = m.text("/proc/sys/kernel/hostname")
	h.Machine = record.Identity(m.text("/etc/machine-id"), record.OfMachine)
	h.Boot = record.Identity(m.text("/proc/sys/kernel/random/boot_id"), record.OfBoot)
	h.Kernel = m.text("/proc/sys/kernel/osrelease")
	if h.Kernel == "" {
		note(errors.New("reading the machine's facts: the kernel does not say its release"))
	}
	more("kernel_version", m.text("/proc/sys/kernel/version"))
	h.Arch = goArch(m.text("/proc/sys/kernel/arch"))

	var err error
	h.OS, err = m.OS()
	note(err)
	cpu, err := parse(m, "/proc/cpuinfo", parseCPUInfo)
	note(err)
	h.CPU = cpu.Model

	st, err := m.status()
	note(err)
	h.CPUs, h.Root = st.CPUs, err == nil && st.EUID == 0
	if online, err := countList(m.text("/sys/devices/system/cpu/online")); err == nil && online > 0 {
		more("cpus_online", strconv.Itoa(online))
	}
	if last, err := strconv.Atoi(m.text("/proc/sys/kernel/cap_last_cap")); err == nil && h.Root {
		more("capabilities_missing", strings.Join(missingCaps(st.CapEff, last), " "))
	}

	if mem, err := m.proc().Memory(); err != nil {
		note(fmt.Errorf("reading the machine's facts from /proc/meminfo: %w", err))
	} else if mem.MemTotalBytes != nil {
		h.Memory = int64(*mem.MemTotalBytes)
		if mem.SwapTotalBytes != nil && *mem.SwapTotalBytes > 0 {
			more("swap_bytes", strconv.FormatUint(*mem.SwapTotalBytes, 10))
		}
	}

	mounts, err := m.proc().Mounts(proc.Self)
	note(err)
	layout := cgroupLayout(mounts)
	h.Cgroup = layout.Mode
	more("cgroup_controllers_v1", strings.Join(layout.controllersV1(), " "))
	if layout.V2 != "" {
		more("cgroup_controllers_v2", m.text(filepath.Join(layout.V2, "cgroup.controllers")))
	}
	if dir, err := filepath.Abs(stateDir); err == nil {
		if mnt := proc.On(mounts, m.resolve(dir)); mnt != nil {
			h.FileSystem = mnt.FSType
			more("filesystem_source", mnt.Source)
		}
	}

	h.Virtual = m.virtual(cpu)
	more("governor", m.governor())
	more("turbo", m.turbo())
	more("smt", m.text("/sys/devices/system/cpu/smt/control"))
	more("clocksource", m.text("/sys/devices/system/clocksource/clocksource0/current_clocksource"))
	more("thp", chosen(m.text("/sys/kernel/mm/transparent_hugepage/enabled")))
	more("mitigations", m.mitigations())
	more("kernel_cmdline_isolation", isolation(m.text("/proc/cmdline")))
	return h, errors.Join(bad...)
}

// resolve follows the links of the longest part of a path that exists.
func (m Machine) resolve(p string) string {
	if m.Root != "" {
		return p // a stored machine has no links of the real one
	}
	for at, rest := p, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return p
		}
	}
}

// goArch names an architecture as Go does; the kernel says it since 6.1.
func goArch(uname string) string {
	switch uname {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	case "":
		return runtime.GOARCH
	}
	return uname
}

// OS is the system's name, as os-release(5) has it for people.
func (m Machine) OS() (string, error) {
	name, err := parse(m, "/etc/os-release", parseOSRelease)
	if err == nil {
		return name, nil
	}
	if name, err = parse(m, "/usr/lib/os-release", parseOSRelease); errors.Is(err, fs.ErrNotExist) {
		return parseOSRelease(strings.NewReader("")) // as in a container of one program: the page's default
	}
	return name, err
}
