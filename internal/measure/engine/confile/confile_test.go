package confile

import (
	"fmt"
	"strings"
	"testing"
)

// A file is read with what is wrong in it at its line, and said in one order.
func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want, wrong string }{
		{"daemon.json", `{"b": {"d": [1, "x"], "c": 65536}, "a": false}`, `a=false b.c=65536 b.d=[1,"x"]`, ""},
		{"config.toml", "version = 2\n[plugins.\"io.x.v1\"]\nname = 'n'\nempty = []\n", `plugins.io.x.v1.empty=[] plugins.io.x.v1.name=n version=2`, ""},
		{"x.conf", "[engine]\nsince = 2020-01-02\n", "engine.since=\"2020-01-02\"", ""},
		{"daemon.json", "{\"a\": 1,\n \"b\" 2}", "", "/u/f:2: expected a JSON object, as a daemon.json is"},
		{"daemon.json", "[1]", "", "/u/f:1: expected a JSON object"},
		{"daemon.json", "{}\n{}", "", "/u/f:2: expected a JSON object, as a daemon.json is: something follows"},
		{"config.toml", "a = 1\nb = \n", "", "/u/f:2:"},
	} {
		all, err := Parse(c.name, "/u/f", []byte(c.text))
		if c.wrong != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.wrong) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, not %q", c.text, err, c.wrong)
			}
			continue
		}
		if got := strings.Trim(fmt.Sprint(Settings(all)), "[]"); err != nil || got != strings.Trim(c.want, "[]") {
			t.Errorf("%s: %q %v, not %q", c.text, got, err, c.want)
		}
	}
}

// What lies over a file wins, tables are united, and what is missing is named.
func TestLay(t *testing.T) {
	base := map[string]any{"root": "/r", "features": map[string]any{"x": true}, "plain": 1}
	over := map[string]any{"features": map[string]any{"y": false}, "plain": map[string]any{"z": 1}, "list": []any{"a"}}
	Lay(base, over)
	if got := fmt.Sprint(Settings(base)); got != `[features.x=true features.y=false list=["a"] plain.z=1 root=/r]` {
		t.Error(got)
	}
	if s := Lacks(base, over); s != nil {
		t.Errorf("%s is there", s)
	}
	base["features"].(map[string]any)["y"] = true
	if s := Lacks(base, over); s == nil || s.String() != "features.y=false" {
		t.Errorf("%v", s)
	}
	if _, ok := over["features"].(map[string]any)["x"]; ok {
		t.Error("the user's file was changed")
	}
	for _, name := range []string{"a.json", "a.toml"} {
		data, err := Write(name, base)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(name, name, data)
		if err != nil || Lacks(again, base) != nil {
			t.Errorf("%s: %s %v", name, data, err)
		}
	}
}
