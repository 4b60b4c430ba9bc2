//go:build linux

package cli

import "github.com/spf13/cobra"

// turn is how a command that measures waits until it may, and shows how far it is.
type turn struct {
	progress    string
	wait, force bool
}

func (t *turn) addTurn(c *cobra.Command) {
	t.addWaiting(c)
	c.Flags().BoolVar(&t.force, "force", false, "measure even if doctor refuses")
}

// addWaiting is for what doctor has no say in.
func (t *turn) addWaiting(c *cobra.Command) {
	waitFlag(c, &t.wait)
	t.progress = "auto"
	choiceFlag(c, &t.progress, "progress", "how to show progress", progressKinds...)
}

// progressKinds are how progress can be shown.
var progressKinds = []string{"auto", "bar", "plain", "json", "none"}

func waitFlag(c *cobra.Command, wait *bool) {
	c.Flags().BoolVar(wait, "wait", false, "wait for your turn if another Plimsoll is measuring on this machine: first come, first served")
}
