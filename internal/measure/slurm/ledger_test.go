package slurm

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
)

// TestLedgerBehindAFullDisk: what a failed write has left does not spoil the next entry,
// which may be the only one that knows of a job.
func TestLedgerBehindAFullDisk(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir)
	require.NoError(t, err)
	defer l.Close()
	_, err = l.file.WriteString(`{"at":"2026-01-02T03:04:05Z","st`)
	require.NoError(t, err)
	require.NoError(t, l.Write(Entry{Step: Submitted, Run: "abcd1234", Job: "7"}))
	if all := entries(t, dir); len(all) != 1 || all[0].Job != "7" {
		t.Errorf("%+v", all)
	}
}

// entries are those of an account of jobs, whoever has it open.
func entries(t *testing.T, dir string) []Entry {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(JobsDir(dir), ledgerFile))
	require.NoError(t, err)
	all, err := parseLedger(text)
	require.NoError(t, err)
	return all
}
