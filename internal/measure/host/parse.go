package host

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/measure/host/proc"
)

// maxLine bounds a line of a kernel file: the options of an overlay mount with
// a hundred layers are long.
const maxLine = 1 << 20

func lines(r io.Reader, each func(string) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	for sc.Scan() {
		if err := each(sc.Text()); err != nil {
			return err
		}
	}
	return sc.Err()
}

// errStop ends lines early.
var errStop = errors.New("enough")

// parseOSRelease reads os-release(5): the pretty name.
func parseOSRelease(r io.Reader) (string, error) {
	v := map[string]string{}
	err := lines(r, func(l string) error {
		k, val, ok := strings.Cut(strings.TrimSpace(l), "=")
		if !ok || strings.HasPrefix(k, "#") {
			return nil
		}
		if len(val) >= 2 && (val[0] == '"' || val[0] == '\'') && val[len(val)-1] == val[0] {
			val = val[1 : len(val)-1]
			val = strings.NewReplacer(`\"`, `"`, `\$`, `$`, "\\`", "`", `\\`, `\`).Replace(val)
		}
		v[k] = val
		return nil
	})
	if err != nil {
		return "", err
	}
	if p := v["PRETTY_NAME"]; p != "" {
		return p, nil
	}
	// The defaults are those of os-release(5).
	name := cmp.Or(v["NAME"], "Linux")
	return strings.TrimSpace(name + " " + v["VERSION"]), nil
}

// cpuInfo is what /proc/cpuinfo says of the first CPU.
type cpuInfo struct {
	Model string
	Flags []string
}

// hypervisor says whether the CPU knows that it is virtual (x86 only).
func (c cpuInfo) hypervisor() bool { return slices.Contains(c.Flags, "hypervisor") }

// armImplementers names the makers of the commonest arm64 servers; source:
// arch/arm64/include/asm/cputype.h.
var armImplementers = map[string]string{
	"0x41": "ARM", "0x42": "Broadcom", "0x43": "Cavium", "0x46": "Fujitsu", "0x48": "HiSilicon", "0x4e": "NVIDIA",
	"0x50": "APM", "0x51": "Qualcomm", "0x61": "Apple", "0x6d": "Microsoft", "0xc0": "Ampere",
}

// parseCPUInfo reads /proc/cpuinfo. On arm64 the kernel names no model, only
// the maker's and the part's numbers, and these are what we show.
func parseCPUInfo(r io.Reader) (cpuInfo, error) {
	var c cpuInfo
	v := map[string]string{}
	err := lines(r, func(l string) error {
		k, val, ok := strings.Cut(l, ":")
		if !ok {
			return nil
		}
		k, val = strings.TrimSpace(k), strings.TrimSpace(val)
		if _, had := v[k]; !had {
			v[k] = val
		}
		return nil
	})
	if err != nil {
		return c, err
	}
	c.Flags = strings.Fields(v["flags"])
	if c.Flags == nil {
		c.Flags = strings.Fields(v["Features"])
	}
	if c.Model = cmp.Or(v["model name"], v["Model"], v["cpu model"], v["uarch"], v["Hardware"]); c.Model != "" {
		return c, nil
	}
	if id := v["CPU implementer"]; id != "" {
		maker := cmp.Or(armImplementers[id], "implementer "+id)
		c.Model = fmt.Sprintf("%s part %s variant %s revision %s", maker, v["CPU part"], v["CPU variant"], v["CPU revision"])
	}
	return c, nil
}

// selfStatus is what /proc/self/status says of our own standing.
type selfStatus struct {
	EUID   int
	CapEff uint64
	CPUs   int // allowed by affinity
}

func (m Machine) status() (selfStatus, error) {
	status, err := m.proc().Status(proc.Self)
	if err != nil {
		return selfStatus{EUID: -1}, fmt.Errorf("reading the machine's facts: %w", err)
	}
	return statusOf(status)
}

func statusOf(status map[string]string) (selfStatus, error) {
	s := selfStatus{EUID: -1}
	var errs [3]error
	ids := strings.Fields(status["Uid"])
	if len(ids) != 4 {
		return s, fmt.Errorf("reading the machine's facts: %q are not four user ids", status["Uid"])
	}
	s.EUID, errs[0] = strconv.Atoi(ids[1])
	s.CapEff, errs[1] = strconv.ParseUint(status["CapEff"], 16, 64)
	s.CPUs, errs[2] = countList(status["Cpus_allowed_list"])
	return s, errors.Join(errs[:]...)
}

// countList counts the numbers in a list as the kernel writes CPU sets:
// "0-3,8,10-11".
func countList(list string) (int, error) {
	list = strings.TrimSpace(list)
	if list == "" {
		return 0, nil
	}
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		a, b, isRange := strings.Cut(part, "-")
		from, err := strconv.ParseUint(a, 10, 20)
		if err != nil {
			return 0, fmt.Errorf("reading the list %q: %w", list, err)
		}
		to := from
		if isRange {
			if to, err = strconv.ParseUint(b, 10, 20); err != nil {
				return 0, fmt.Errorf("reading the list %q: %w", list, err)
			}
		}
		if to < from {
			return 0, fmt.Errorf("reading the list %q: %s runs backwards", list, part)
		}
		n += int(to-from) + 1
	}
	return n, nil
}

// capNames are the capabilities by number; source: include/uapi/linux/capability.h.
var capNames = strings.Fields(`chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap
	linux_immutable net_bind_service net_broadcast net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio
	sys_chroot sys_ptrace sys_pacct sys_admin sys_boot sys_nice sys_resource sys_time sys_tty_config mknod lease
	audit_write audit_control setfcap mac_override mac_admin syslog wake_alarm block_suspend audit_read perfmon
	bpf checkpoint_restore`)

// missingCaps names the capabilities up to last that are not in set.
func missingCaps(set uint64, last int) []string {
	var l []string
	for i := 0; i <= last && i < 64; i++ {
		if set>>i&1 == 1 {
			continue
		}
		name := fmt.Sprintf("cap_%d", i)
		if i < len(capNames) {
			name = "cap_" + capNames[i]
		}
		l = append(l, name)
	}
	return l
}
