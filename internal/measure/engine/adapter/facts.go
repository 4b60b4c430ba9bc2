package adapter

import (
	"maps"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// FactSheet has an environment's facts. The zero value is ready.
type FactSheet struct {
	facts map[string]string
	mu    sync.Mutex
}

// AddFacts adds to the facts; an empty value takes one away.
func (s *FactSheet) AddFacts(facts map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.facts == nil {
		s.facts = map[string]string{}
	}
	for k, v := range facts {
		if v == "" {
			delete(s.facts, k)
		} else {
			s.facts[k] = v
		}
	}
}

// Fact is one of them.
func (s *FactSheet) Fact(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.facts[name]
}

func (s *FactSheet) Facts() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.facts)
}

// Library is the fact client-library: the module of an API's client, with the
// version that we were built with.
func Library(path string) string {
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, m := range b.Deps {
			if m.Path == path {
				return path + " " + m.Version
			}
		}
	}
	return path
}

// MajorVersion returns the first number of a version; 0 where there is none.
func MajorVersion(v string) int {
	first, _, _ := strings.Cut(v, ".")
	n, _ := strconv.Atoi(first)
	return n
}
