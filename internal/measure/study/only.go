package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/common/yamlfile"
)

// quick is the scale by which a study's questions are asked in minutes.
const quick = "quick"

// OnlyOptions say in how many blocks the parts run that are left.
type OnlyOptions struct {
	// AllBlocks: all of the protocol's, whatever the parts ask for.
	AllBlocks bool
	// Claims: further ones where claims are open. Without it there are none, as a claim
	// that needs another part, too, would be open to the end.
	Claims bool
}

// Only leaves the named parts of a study, in as many blocks as they ask for. Names that
// it does not know are an error.
func (s *Study) Only(parts []string, o OnlyOptions) error {
	if len(parts) == 0 {
		return nil
	}
	p := &yamlfile.Problems{}
	at := yamlfile.Pos{Path: s.at.Path}
	var known []string
	for _, x := range s.Parts {
		if x.Name != "" {
			known = append(known, x.Name)
		}
	}
	for _, name := range parts {
		i := slices.IndexFunc(s.Parts, func(x Part) bool { return x.Name == name })
		switch {
		case len(known) == 0:
			p.Add(at, "the study has no parts", "none: it is one matrix")
			return p.Err()
		case i < 0 || name == "":
			p.Unknown(at, "part", name, known)
		case s.Parts[i].Skipped != "":
			p.Add(at, fmt.Sprintf("this scale leaves the part %s out: %s", name, strings.TrimSuffix(s.Parts[i].Skipped, ".")), "another scale")
		}
	}
	if err := p.Err(); err != nil {
		return err
	}
	verb := "was"
	if len(parts) > 1 {
		verb = "were"
	}
	s.Parts = slices.Clone(s.Parts)
	blocks, warm, all := 0, false, s.Protocol.Fixed()
	for i := range s.Parts {
		x := &s.Parts[i]
		if !slices.Contains(parts, x.Name) {
			x.Skipped = cmp.Or(x.Skipped, "Only "+strings.Join(parts, ", ")+" "+verb+" asked for.")
			continue
		}
		if o.AllBlocks || x.Blocks == 0 {
			x.Blocks = all
		}
		blocks, warm = max(blocks, x.Blocks), warm || !x.Unwarmed
	}
	if s.Protocol.Until == 0 && (s.Protocol.TimeBudgetNS == 0 || len(s.Protocol.ClaimLooks) > 0) {
		s.fewer(min(blocks, all), o.Claims)
	}
	if !warm {
		s.Protocol.Warmup = 0
	}
	s.OnlyParts = slices.Clone(parts)
	return nil
}

// fewer sets the number of fixed blocks to that of the parts that are left; the looks at
// claims come after as many times these as before.
func (s *Study) fewer(blocks int, looks bool) {
	p := &s.Protocol
	if !looks {
		p.Unlooked()
	}
	if before := p.ClaimLooks; len(before) > 0 {
		last := before[len(before)-1]
		p.ClaimLooks = ClaimLooks(blocks, max(blocks+1, last*blocks/before[0]))
		blocks = p.ClaimLooks[len(p.ClaimLooks)-1]
	}
	p.Blocks = blocks
}

// partCommand is what measures parts of this study: at the quick scale, where
// that has them.
func (c *checker) partCommand(parts []yamlfile.Word) string {
	if len(parts) == 0 || c.doc == nil {
		return ""
	}
	names, scale := partNames(c.doc.Parts), ""
	for _, k := range c.doc.Scales {
		if k.Key.Text == quick {
			scale = " --scale " + quick
		}
	}
	var asked string
	for _, part := range parts {
		if !slices.Contains(names, part.Text) {
			if !c.doc.Extends.At.Given() { // what extends a study may have other parts
				c.Unknown(part.At, "part", part.Text, names)
			}
			return ""
		}
		asked += " --part " + harmless.ShellWord(part.Text)
		for _, k := range c.doc.Scales {
			for _, x := range k.Value.Parts {
				if k.Key.Text == quick && x.Key.Text == part.Text && x.Value.Skip.At.Given() {
					scale = ""
				}
			}
		}
	}
	study := c.doc.Name.Text
	if c.src.dir != "" {
		study = c.src.Path
	}
	return "plimsoll run " + harmless.ShellWord(study) + scale + asked
}
