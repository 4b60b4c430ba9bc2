package features

// feature is a row of the table: what is tried, and how in each engine.
type feature struct {
	ID, Group string
	Title     string // as published, where it is
	Means     string // what was tried, so what "yes" means here
	By        map[string]attempt
	// Any is the attempt of the engines that By does not name.
	Any attempt
}

// attempt tries one feature in one engine. It ends by one of the try's
// verdicts; one that simply returns means yes.
type attempt func(*try)

// The groups: those that were published, and what has come since.
const (
	compatibility = "Compatibility"
	images        = "Image management"
	optimizations = "Optimizations"
	executions    = "Containers executions"
	security      = "Security"
	since         = "Since the paper"
)

// all lists every feature: first those of the published table, in its order.
func all() []feature {
	var all []feature
	for _, group := range [][]feature{compatibilityRows(), imageRows(), optimizationRows(), executionRows(), securityRows(), sinceRows()} {
		all = append(all, group...)
	}
	return all
}

// Engines lists the engines that attempts are written for, in the order of the
// table, and those of the published table that have none.
func Engines() []string {
	return []string{"docker", "podman", "containerd", "charliecloud", "apptainer", "sarus", "balena", "lxd", "incus"}
}

// untriable is a row that no attempt here can tell.
func untriable(why string) attempt {
	return func(t *try) { t.untried("%s", why) }
}
