package fleet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Scheme begins the address of a host that ssh reaches.
const Scheme = "ssh://"

// Target is a host as ssh is to reach it.
type Target struct {
	// Name is what the host is called: in messages, and the folder of its record.
	Name string `json:"name"`
	// User is empty where ssh's configuration says it.
	User string `json:"user,omitempty"`
	Host string `json:"host"` // a name, an address, or an alias of ssh's configuration
	// Port is 0 where ssh's configuration says it.
	Port int `json:"port,omitempty"`
	// Become: by sudo, to root.
	Become bool `json:"become,omitempty"`
}

// String is the target as it is typed.
func (t Target) String() string {
	s := Scheme
	if t.User != "" {
		s += t.User + "@"
	}
	if strings.Contains(t.Host, ":") {
		s += "[" + t.Host + "]"
	} else {
		s += t.Host
	}
	if t.Port != 0 {
		s += ":" + strconv.Itoa(t.Port)
	}
	return s
}

// expectedTarget is how an address is typed.
const expectedTarget = "ssh://[USER@]HOST[:PORT]"

// ParseTargets reads what --on was given: addresses with commas between, of which
// the first alone must have the scheme.
func ParseTargets(given string) ([]Target, error) {
	var out []Target
	for part := range strings.SplitSeq(given, ",") {
		t, err := parseTarget(part)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, distinct(out)
}

// parseTarget reads one address; the scheme may be left out.
func parseTarget(given string) (Target, error) {
	bad := func(why string) (Target, error) {
		return Target{}, fmt.Errorf("%q is not a host: %s; expected %s", given, why, expectedTarget)
	}
	rest := strings.TrimSuffix(strings.TrimPrefix(given, Scheme), "/")
	var t Target
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		if t.User, rest = rest[:i], rest[i+1:]; !isUser(t.User) {
			return bad("the user's name may hold letters, digits, '.', '_', '-', '+' and '@'")
		}
	}
	port := ""
	if inner, after, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]"); ok && strings.HasPrefix(rest, "[") {
		t.Host = inner
		if port = strings.TrimPrefix(after, ":"); after != "" && port == after {
			return bad("behind the address comes a colon and the port")
		}
	} else {
		t.Host, port, _ = strings.Cut(rest, ":")
	}
	if !IsHost(t.Host) {
		return bad("the host may hold letters, digits, '.', '_' and '-', and an IPv6 address stands in brackets")
	}
	if port != "" {
		n, err := strconv.Atoi(port)
		if err != nil || !isPort(n) {
			return bad("the port is a number from 1 to 65535")
		}
		t.Port = n
	}
	t.Name = folder(t)
	return t, nil
}

// isPort says whether a number can be a port.
func isPort(n int) bool { return n > 0 && n < 1<<16 }

// isUser says whether ssh can be told to log in as this user: nothing that it
// could take for an option, or that its configuration would expand. Of a directory's
// users the name is often that of a mailbox.
func isUser(s string) bool { return isWord(s, "._-+@") }

// IsHost says whether a word can be a host of ssh's: see isUser.
func IsHost(s string) bool { return isWord(s, "._-:") }

func isWord(s, more string) bool {
	return s != "" && len(s) <= 253 && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune(more, r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// folder is a host's name as a folder's, which is neither hidden nor like an option.
func folder(t Target) string {
	name := strings.TrimLeft(strings.ReplaceAll(t.Host, ":", "-"), ".-")
	if t.Port != 0 {
		name += "-" + strconv.Itoa(t.Port)
	}
	return name
}

// distinct refuses hosts that would share a folder.
func distinct(all []Target) error {
	for i, t := range all {
		if j := slices.IndexFunc(all[:i], func(o Target) bool { return strings.EqualFold(o.Name, t.Name) }); j >= 0 {
			return fmt.Errorf("%s and %s are both called %s: each host is measured once", all[j], t, t.Name)
		}
		if t.Name == "" || t.Name == LedgerFile {
			return fmt.Errorf("%s can't be the name of a folder", t)
		}
	}
	return nil
}
