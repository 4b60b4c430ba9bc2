package analyze

import "testing"

// A short name that may stand for several is answered with these, any other with all that
// there are.
func TestChoiceOfSeveral(t *testing.T) {
	known := []string{"native", "docker/cli", "docker/cli/without-capabilities", "docker/cli/without-pid-namespace+capabilities"}
	for word, want := range map[string]string{
		"docker/cli/…capabilities": `the environment "docker/cli/…capabilities" may be each of several: docker/cli/without-capabilities, docker/cli/without-pid-namespace+capabilities`,
		"podman/…":                 `no environment "podman/…": there is native, docker/cli, docker/cli/without-capabilities, docker/cli/without-pid-namespace+capabilities`,
		"dcoker":                   `no environment "dcoker": there is native, docker/cli, docker/cli/without-capabilities, docker/cli/without-pid-namespace+capabilities`,
	} {
		if got := (&ChoiceError{What: "environment", Word: word, Known: known}).Error(); got != want {
			t.Errorf("%s: %s", word, got)
		}
	}
}
