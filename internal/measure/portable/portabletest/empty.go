package portabletest

import (
	"errors"
	"os"
	"testing"

	"github.com/moby/moby/client"
)

// Empty demands that a daemon has nothing any more, and that there is no ledger in a folder.
func Empty(tb testing.TB, d client.APIClient, ledgers string) {
	tb.Helper()
	containers, err := d.ContainerList(tb.Context(), client.ContainerListOptions{All: true})
	images, ierr := d.ImageList(tb.Context(), client.ImageListOptions{All: true})
	kept, lerr := os.ReadDir(ledgers)
	if err := errors.Join(err, ierr, lerr); err != nil || len(containers.Items)+len(images.Items)+len(kept) > 0 {
		tb.Errorf("left are %d containers, %d images and %d ledgers: %v", len(containers.Items), len(images.Items), len(kept), err)
	}
}
