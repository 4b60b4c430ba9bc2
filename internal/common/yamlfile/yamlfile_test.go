package yamlfile

import (
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

type inner struct {
	Flag Flag `key:"flag"`
}

type sample struct {
	Format Count `key:"sample" jsonschema:"required,minimum=1,maximum=1"`
	inner
	Size     Size         `key:"size"`
	Levels   SettingWords `key:"levels"`
	Settings Settings     `key:"settings"`
	Wait     Duration     `key:"wait"`
}

func decode(t *testing.T, text string) (sample, error) {
	t.Helper()
	f := Format{Noun: "sample", Plural: "samples", Key: "sample", Version: 1}
	p := &Problems{}
	var s sample
	root := f.Parse("s.yaml", []byte(text), p)
	if root == nil {
		return s, p.Err()
	}
	d := &Decoder{Path: "s.yaml", Problems: p}
	if f.is(d, root) {
		d.Value(root, reflect.ValueOf(&s).Elem(), Field{Key: "the sample"})
	}
	return s, p.Err()
}

func TestDecode(t *testing.T) {
	s, err := decode(t, "sample: 1\nflag: true\nsize: 2MiB\nlevels: [16MiB, b]\nsettings: {a: Xy, b: [1, 2]}\nwait: 1m30s\n")
	require.NoError(t, err)
	if !s.Flag.On || s.Size.Bytes != 2<<20 || len(s.Levels.List) != 2 || s.Levels.List[0].Text != "16MiB" ||
		len(s.Settings) != 2 || s.Settings[1].Levels.List[1].Text != "2" || s.Wait.NS != 90e9 {
		t.Errorf("read as %+v", s)
	}
	if at := s.Levels.List[1].At; at.Line != 4 || at.Column != 17 {
		t.Errorf("b is at %d:%d", at.Line, at.Column)
	}
}

// All errors come at once, in the order of the file, with their places.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"sample: 1\nflag: yes\nsize: 3\nlevel: x\n": `s.yaml:2:7: flag is "yes", expected true or false
s.yaml:3:7: size is "3", expected a size with its unit (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), such as 512MiB, or none
s.yaml:4:1: unknown key "level", expected one of sample, flag, size, levels, settings, wait; did you mean "levels"?`,
		"sampel: 1\n":                    `s.yaml:1:1: this is no sample: it has no key "sample", expected the line "sample: 1", the version of the format; did you mean "sample"?`,
		"sample: 1\nsize: &a 1MiB\n":     `s.yaml:2:7: anchor "&a", expected the value itself (samples have no anchors and aliases)`,
		"sample: 1\nlevels: [a, /x]\n":   `s.yaml:2:13: levels is "/x", expected a word, or a list of words: letters and digits, then also '.', '_', '-'`,
		"sample: 1\n---\nsample: 1\n":    `s.yaml:2:1: a second YAML document begins, expected one sample a file`,
		strings.Repeat("[", 100):         "",
		"sample: 1\nwait: \"\\u0000\"\n": `s.yaml:2:7: wait is "\x00", expected a time with its unit (ns, us, ms, s, m, h), such as 500ms or 1m30s`,
	} {
		_, err := decode(t, text)
		if err == nil {
			t.Errorf("%q was read", text)
		} else if want != "" && err.Error() != want {
			t.Errorf("%q gives\n%v\nwant\n%s", text, err, want)
		}
	}
}
