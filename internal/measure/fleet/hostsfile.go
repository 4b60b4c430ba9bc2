package fleet

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/common/yamlfile"
)

// hostsFormat is the format of a file of hosts.
var hostsFormat = yamlfile.Format{Noun: "hosts file", Plural: "hosts files", Key: "plimsoll-hosts", Version: 1}

type hostsFile struct {
	Format yamlfile.Count                  `key:"plimsoll-hosts" jsonschema:"required,minimum=1,maximum=1"`
	Become yamlfile.Flag                   `key:"become"`
	Hosts  []hostEntry                     `key:"hosts" jsonschema:"required,minItems=1"`
	Groups yamlfile.Keyed[[]yamlfile.Text] `key:"groups"`
}

type hostEntry struct {
	at      yamlfile.Pos
	Address yamlfile.Text `key:"address" jsonschema:"required"`
	Name    yamlfile.Text `key:"name"`
	Become  yamlfile.Flag `key:"become"`
}

// Place says where the host stands in its file.
func (e *hostEntry) Place(at yamlfile.Pos) { e.at = at }

// ReadHosts reads the hosts of a file, or of some groups of it: FILE#GROUP,GROUP.
func ReadHosts(given string) ([]Target, error) {
	path, groups, some := strings.Cut(given, "#")
	data, err := yamlfile.ReadGiven(path)
	if err != nil {
		return nil, fmt.Errorf("reading the hosts: %w", err)
	}
	all, members, err := parseHosts(path, data)
	if err != nil || !some {
		return all, err
	}
	var out []Target
	for g := range strings.SplitSeq(groups, ",") {
		names, ok := members[g]
		if !ok {
			var known []string
			for name := range members {
				known = append(known, name)
			}
			slices.Sort(known)
			return nil, fmt.Errorf("%s has no group %q: it has %s", path, g, yamlfile.OneOf(known))
		}
		for _, t := range all {
			if slices.Contains(names, t.Name) && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out, nil
}

func parseHosts(path string, data []byte) (all []Target, groups map[string][]string, err error) {
	p := &yamlfile.Problems{}
	var doc hostsFile
	if hostsFormat.Decode(&yamlfile.Decoder{Path: path, Problems: p}, data, &doc, "the file") == nil {
		return nil, nil, p.Err()
	}
	var names []string
	for i := range doc.Hosts {
		e := &doc.Hosts[i]
		if e.Address.Text == "" { // it was said
			continue
		}
		t, err := parseTarget(e.Address.Text)
		if err != nil {
			p.Add(e.Address.At, "the address "+yamlfile.Quote(e.Address.Text)+" is none", expectedTarget)
			continue
		}
		at := e.Address.At
		if e.Name.Text != "" {
			t.Name, at = e.Name.Text, e.Name.At
			if !isWord(t.Name, "._-") || t.Name[0] == '.' {
				p.Add(at, "the name "+yamlfile.Quote(t.Name)+" can't be a folder's", "letters, digits, '.', '_' and '-'")
			}
		}
		if t.Become = doc.Become.On; e.Become.At.Given() {
			t.Become = e.Become.On
		}
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, t.Name) }) {
			p.Add(at, "two hosts are called "+yamlfile.Quote(t.Name), "another name")
		}
		names, all = append(names, t.Name), append(all, t)
	}
	groups = map[string][]string{}
	for _, g := range doc.Groups {
		for _, h := range g.Value {
			if !slices.Contains(names, h.Text) {
				p.Unknown(h.At, "host", h.Text, names)
			}
			groups[g.Key.Text] = append(groups[g.Key.Text], h.Text)
		}
	}
	if p.Any() {
		return nil, nil, p.Err()
	}
	return all, groups, distinct(all)
}
