package report

import (
	"bytes"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// someFeatures is made up: every kind of cell stands in it.
func someFeatures() *record.Features {
	yes := record.FeatureCell{Value: record.FeatureYes, Published: "yes"}
	return &record.Features{
		Schema: record.FeaturesSchema,
		Host:   record.Host{Name: "made-up", Kernel: "6.1", Arch: "amd64", CPUs: 2},
		Engines: []record.FeatureEngine{
			{Name: "docker", Version: "20.10"}, {Name: "apptainer", Version: "1.4.5"},
			{Name: "sarus", Missing: "not usable here: sarus is not installed", Fix: "install Sarus"},
		},
		Rows: []record.FeatureRow{
			{Group: "Compatibility", ID: "oci-compliance", Feature: "OCI compliance", Means: "an image's configuration is honoured", Cells: map[string]record.FeatureCell{
				"docker": yes, "apptainer": {Value: record.FeaturePartial, Why: "not the image's: user, working directory", Published: "yes",
					Evidence: []record.FeatureEvidence{{Command: []string{"apptainer", "run", "x.sif"}, Output: "INFO: \x1b[31mred\x1b[0m\nuser=0", Status: 1}, {Output: "seen beside it"}}},
				"sarus": {Value: record.FeatureUntried, Why: "not usable here: sarus is not installed", Published: "yes"}}},
			{Group: "Security", ID: "signed-images", Feature: "Signed container images", Means: "a tampered image is refused", Cells: map[string]record.FeatureCell{
				"docker": {Value: record.FeatureUntried, Why: "content trust needs a Notary service, and there is none here", Published: "yes"}, "apptainer": yes}},
			{Group: "Security", ID: "rootless", Feature: "Rootless executions", Means: "an ordinary user starts a container", Cells: map[string]record.FeatureCell{
				"docker": yes, "apptainer": yes}},
			{Group: "Since the paper", ID: "stats", Feature: "Live use of resources", Means: "the engine tells the memory in use", Cells: map[string]record.FeatureCell{
				"docker": {Value: record.FeatureYes}, "apptainer": {Value: record.FeaturePartial, Why: "as root only"}}},
			{Group: "Since the paper", ID: "gpus", Feature: "Support for GPUs", Means: "the engine hands GPUs over", Cells: map[string]record.FeatureCell{
				"docker":    {Value: record.FeaturePartial, Why: "the option is known; there is no GPU here to see what it hands over", Lacking: "there is no GPU", Published: "yes"},
				"apptainer": {Value: record.FeaturePartial, Why: "the option is known; there is no GPU here to see what it hands over", Lacking: "there is no GPU", Published: "no"}}},
		},
	}
}

func TestFeatures(t *testing.T) {
	for _, c := range []struct {
		file, format string
		opts         FeatureOptions
	}{
		{"features.txt", "text", FeatureOptions{}},
		{"features-60.txt", "text", FeatureOptions{Options: Options{Width: 60, ASCII: true}}},
		{"features-detail.txt", "text", FeatureOptions{Detail: true}},
		{"features.md", "markdown", FeatureOptions{}},
		{"features.csv", "csv", FeatureOptions{}},
	} {
		var b bytes.Buffer
		require.NoError(t, WriteFeatures(&b, c.format, someFeatures(), c.opts))
		isGolden(t, c.file, b.String())
		if c.format != "json" && strings.Contains(b.String(), "\x1b") {
			t.Errorf("%s: an escape sequence of a container's got through", c.file)
		}
	}
	if err := WriteFeatures(&bytes.Buffer{}, "xml", someFeatures(), FeatureOptions{}); err == nil {
		t.Error("a format that there is not")
	}
}

// Where nothing could be tried there is no table, and it says why.
func TestNoFeatures(t *testing.T) {
	f := someFeatures()
	f.Engines = f.Engines[2:]
	var b bytes.Buffer
	require.NoError(t, WriteFeatures(&b, "text", f, FeatureOptions{}))
	if s := b.String(); !strings.Contains(s, "sarus is not installed") || strings.Contains(s, "[yes]") {
		t.Error(s)
	}
}
