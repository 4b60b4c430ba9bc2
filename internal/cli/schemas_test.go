package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/measure/portable"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/selftest"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// jsonSchemas are what commands print as JSON themselves.
var jsonSchemas = map[string]golden.Schema{
	"cleanCommand":    golden.Of[*run.Cleaned]("clean"),
	"cleanPortable":   golden.Of[[]portable.Cleaned]("clean_portable"),
	"doctorCommand":   golden.Of[record.Host]("doctor"),
	"doctorPortable":  golden.Of[portableDoctor]("doctor_portable"),
	"enginesCommand":  golden.Of[[]engineJSON]("engines"),
	"enginesPortable": golden.Of[portableEngines]("engines_portable"),
	"imageList":       golden.Of[[]imageRow]("images"),
	"imageShow":       golden.Of[shownImage]("image"),
	"listSources":     golden.Of[[]sourceRow]("sources"),
	"listWorkloads":   golden.Of[[]workload.Workload]("workloads"),
	"planCommand":     golden.Of[planned]("plan"),
	"printBuilt":      golden.Of[builtImage]("image_built"),
	"printSizes":      golden.Of[[]sizeRow]("image_sizes"),
	"selftestCommand": golden.Of[*selftest.Result]("selftest"),
	"showFigures":     golden.Of[[]figures.Figure]("study_figures"),
	"showProtocol":    golden.Of[*study.PaperProtocol]("study_protocol"),
	"showWorkload":    golden.Of[shownWorkload]("workload"),
	"studiesCommand":  golden.Of[[]studyRow]("studies"),
	"tryWorkload":     golden.Of[[]tryRow]("workloads_try"),
	"versionCommand":  golden.Of[versionJSON]("version"),
}

// jsonPrinted is what each command prints with --format json: the golden files of its
// schemas, here or, behind "report/", in the package report.
var jsonPrinted = map[string]string{
	"ab":             "report/pair",
	"ablate":         "report/ablations",
	"advise":         "report/advice report/hosts_advice",
	"agent":          "sources",
	"clean":          "clean clean_portable",
	"compare":        "report/changes report/hosts_changes report/hosts",
	"doctor":         "doctor doctor_portable",
	"engines":        "engines engines_portable",
	"explain":        "report/explanation report/explanations report/rates",
	"factors":        "report/factors report/hosts_factors",
	"features":       "report/features",
	"findings":       "report/findings report/hosts_claims",
	"floor":          "report/charges",
	"history":        "report/history",
	"image build":    "image_built",
	"image list":     "images",
	"image pull":     "image_built",
	"image show":     "image",
	"image sizes":    "image_sizes",
	"plan":           "plan",
	"releases":       "report/releases",
	"report":         "report/result report/audit report/overhead report/over report/papers report/figures report/hosts",
	"run":            "report/result report/changes report/pair",
	"selftest":       "selftest",
	"studies":        "studies",
	"studies show":   "study_figures study_protocol",
	"tune":           "report/states report/steadiness",
	"version":        "version",
	"workloads":      "workloads workload workloads_try",
	"workloads show": "workload",
	"export":         "export",
}

// TestJSONSchemas: what commands print as JSON is held by golden files of its fields, and
// no command with --format json is without one.
func TestJSONSchemas(t *testing.T) {
	golden.Schemas(t, jsonSchemas, "printJSON")
	printed := map[string]bool{}
	for name, files := range jsonPrinted {
		for _, f := range strings.Fields(files) {
			printed[f] = true
			path := filepath.Join("testdata", "json", f+".txt")
			switch file, ok := strings.CutPrefix(f, "report/"); {
			case ok:
				path = filepath.Join("..", "understand", "report", "testdata", "json", file+".txt")
			case f == "export": // columns, which its own test holds by what it writes
				path = "../understand/export/testdata/small.json"
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	var all []string
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if f := c.Flags().Lookup("format"); f != nil && slices.Contains(strings.Split(f.Value.Type(), "|"), "json") {
			all = append(all, strings.TrimPrefix(c.CommandPath(), "plimsoll "))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(Root(World{}))
	for _, name := range all {
		if jsonPrinted[name] == "" {
			t.Errorf("plimsoll %s --format json prints what no golden file holds: name it in jsonPrinted", name)
		}
	}
	for name := range jsonPrinted {
		if !slices.Contains(all, name) {
			t.Errorf("plimsoll %s has no --format json", name)
		}
	}
	files, err := filepath.Glob("../understand/report/testdata/json/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("the package report has no golden files of its schemas")
	}
	for _, path := range files {
		if name := "report/" + strings.TrimSuffix(filepath.Base(path), ".txt"); !printed[name] {
			t.Errorf("no command prints %s", name)
		}
	}
}
