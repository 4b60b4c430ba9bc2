package trace

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// symbols are the kernel's functions by address.
type symbols struct {
	at    []uint64
	names []string
}

// kernelSymbols reads /proc/kallsyms, whose addresses root sees.
func kernelSymbols() (*symbols, error) {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return nil, fmt.Errorf("reading the kernel's functions: %w", err)
	}
	defer f.Close()
	return parseSymbols(f)
}

func parseSymbols(in io.Reader) (*symbols, error) {
	s := &symbols{}
	sc := bufio.NewScanner(in)
	for sc.Scan() {
		at, rest, _ := strings.Cut(sc.Text(), " ")
		kind, name, ok := strings.Cut(rest, " ")
		if !ok || (kind != "t" && kind != "T" && kind != "w" && kind != "W") {
			continue
		}
		n, err := strconv.ParseUint(at, 16, 64)
		if err != nil {
			return nil, fmt.Errorf("/proc/kallsyms: %q: expected an address, a kind and a name", sc.Text())
		}
		name, _, _ = strings.Cut(name, "\t")
		s.at, s.names = append(s.at, n), append(s.names, name)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading the kernel's functions: %w", err)
	}
	sort.Sort(s)
	if len(s.at) == 0 || s.at[len(s.at)-1] == 0 {
		return nil, fmt.Errorf("/proc/kallsyms shows no addresses (sysctl kernel.kptr_restrict)")
	}
	return s, nil
}

func (s *symbols) Len() int           { return len(s.at) }
func (s *symbols) Less(i, j int) bool { return s.at[i] < s.at[j] }
func (s *symbols) Swap(i, j int) {
	s.at[i], s.at[j] = s.at[j], s.at[i]
	s.names[i], s.names[j] = s.names[j], s.names[i]
}

// name is the function that an address lies in, without what the compiler added.
func (s *symbols) name(at uint64) string {
	i, exact := slices.BinarySearch(s.at, at)
	if !exact {
		i--
	}
	if i < 0 {
		return "?"
	}
	name, _, _ := strings.Cut(s.names[i], ".")
	return name
}
