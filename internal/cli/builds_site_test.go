package cli

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestSiteBuilds measures builds and configurations of daemons, each pair on private
// daemons, and kills such a run.
func TestSiteBuilds(t *testing.T) {
	onSite(t)
	testscript.Run(t, scripts("testdata/site"))
}
