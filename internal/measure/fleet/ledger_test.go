package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// An account may be somebody else's: no host in it has a folder elsewhere, or one that
// another has.
func TestLedger(t *testing.T) {
	host := func(name string) string { return `{"name":"` + name + `","host":"` + name + `","run":"abcdefgh"}` }
	named := func(name string) string { return `{"name":"` + name + `","host":"node","run":"abcdefgh"}` }
	for _, c := range []struct{ hosts, err string }{
		{host("a") + "," + host("b"), ""},
		{named("board") + "," + `{"name":"fe80--1-22","user":"lab","host":"fe80::1","port":22,"become":true,"run":"abcdefgi"}`, ""},
		{named(".."), `".." is not a host of a run`},
		{named("."), `"." is not a host of a run`},
		{named(".ssh"), `".ssh" is not a host of a run`},
		{named("a/b"), `"a/b" is not a host of a run`},
		{named(""), `"" is not a host of a run`},
		{`{"name":"a","host":"a","run":"../../.."}`, `"a" is not a host of a run`},
		{`{"name":"a","host":"-oProxyCommand=x","run":"abcdefgh"}`, "is not a host"},
		{named("a") + "," + host("A"), "both called A"},
		{named("hosts.json"), "can't be the name of a folder"},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, LedgerFile), []byte(`{"plimsoll-hosts":1,"hosts":[`+c.hosts+`]}`), 0o600))
		l, err := OpenLedger(dir)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.hosts, err, c.err)
		}
		if err == nil {
			require.NoError(t, l.Close())
		}
	}
}
