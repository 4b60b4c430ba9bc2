package study

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/measure/engine"
	"plimsoll/studies"
)

const schemaFile = "../../../schema/study.schema.json"

// generate makes the JSON Schema of the study format from the document types.
// Names of engines, levels and workloads are left open: what there is depends
// on the catalogue, and the reader says it better.
func generate(t *testing.T) []byte {
	t.Helper()
	pattern := func(p string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Pattern: p} }
	nameSchema := func() *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Pattern: yamlfile.NamePattern, MaxLength: new(uint64(yamlfile.MaxWord))}
	}
	// A level may look like a number.
	wordSchema := &jsonschema.Schema{OneOf: []*jsonschema.Schema{nameSchema(), {Type: "number", Minimum: "0"}}}
	word := func() *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/word"} }
	levelsSchema := &jsonschema.Schema{OneOf: []*jsonschema.Schema{word(), {Type: "array", Items: word(), MinItems: new(uint64(1)), UniqueItems: true}}}
	levels := func() *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/levels"} }
	free := func() *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", MinProperties: new(uint64(1)), AdditionalProperties: levels()}
	}
	// A parameter's value may have capitals.
	settingSchema := &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "string", Pattern: yamlfile.SettingPattern, MaxLength: new(uint64(yamlfile.MaxWord))}, {Type: "number", Minimum: "0"}}}
	setting := func() *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/setting"} }
	settings := func() *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", MinProperties: new(uint64(1)), AdditionalProperties: &jsonschema.Schema{
			OneOf: []*jsonschema.Schema{setting(), {Type: "array", Items: setting(), MinItems: new(uint64(1)), UniqueItems: true}}}}
	}
	claimName := func() *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Pattern: claimIDPattern, MaxLength: new(uint64(yamlfile.MaxWord))}
	}
	several := func(one func() *jsonschema.Schema) func() *jsonschema.Schema {
		return func() *jsonschema.Schema {
			return &jsonschema.Schema{OneOf: []*jsonschema.Schema{one(), {Type: "array", Items: one(), MinItems: new(uint64(1)), UniqueItems: true}}}
		}
	}
	leaves := map[reflect.Type]func() *jsonschema.Schema{
		reflect.TypeFor[yamlfile.Name](): nameSchema,
		reflect.TypeFor[yamlfile.Text](): func() *jsonschema.Schema {
			return &jsonschema.Schema{Type: "string", MinLength: new(uint64(1)), MaxLength: new(uint64(yamlfile.MaxText))}
		},
		reflect.TypeFor[yamlfile.Words]():    levels,
		reflect.TypeFor[yamlfile.Axes]():     free,
		reflect.TypeFor[yamlfile.Settings](): settings,
		reflect.TypeFor[yamlfile.Flag]():     func() *jsonschema.Schema { return &jsonschema.Schema{Type: "boolean"} },
		reflect.TypeFor[until]():             func() *jsonschema.Schema { return pattern("^" + UntilClaims + "$|" + yamlfile.PercentPattern) },
		reflect.TypeFor[rate]():              func() *jsonschema.Schema { return pattern(ratePattern) },
		reflect.TypeFor[filePath]():          func() *jsonschema.Schema { return pattern(pathPattern) },
		reflect.TypeFor[nameOrFile]():        nameSchema,
		reflect.TypeFor[yamlfile.Count]():    func() *jsonschema.Schema { return &jsonschema.Schema{Type: "integer"} },
		reflect.TypeFor[yamlfile.Duration](): func() *jsonschema.Schema { return pattern(yamlfile.DurationPattern) },
		reflect.TypeFor[yamlfile.Percent]():  func() *jsonschema.Schema { return pattern(yamlfile.PercentPattern) },
		reflect.TypeFor[claims](): func() *jsonschema.Schema {
			file := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"file"}, AdditionalProperties: jsonschema.FalseSchema}
			file.Properties.Set("file", pattern(pathPattern))
			return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
				{Type: "array", Items: &jsonschema.Schema{Ref: "#/$defs/claim"}, MinItems: new(uint64(1))}, file}}
		},
		reflect.TypeFor[claimID]():                         claimName,
		reflect.TypeFor[claimTo]():                         func() *jsonschema.Schema { return &jsonschema.Schema{} }, // replaced below
		reflect.TypeFor[claimWork]():                       func() *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/claimWork"} },
		reflect.TypeFor[ratioRange]():                      func() *jsonschema.Schema { return pattern(ratioPattern) },
		reflect.TypeFor[valueRange]():                      func() *jsonschema.Schema { return pattern(valuePattern) },
		reflect.TypeFor[yamlfile.Several[yamlfile.Size]](): several(func() *jsonschema.Schema { return pattern(yamlfile.SizePattern) }),
		reflect.TypeFor[yamlfile.Several[yamlfile.Amount]](): several(func() *jsonschema.Schema {
			return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "number", Minimum: "0.01", Maximum: "4096"}, {Type: "string", Enum: []any{yamlfile.None}}}}
		}),
	}
	// Groups whose keys the author chooses.
	chosen := func(def string) func() *jsonschema.Schema {
		return func() *jsonschema.Schema {
			return &jsonschema.Schema{Type: "object", MinProperties: new(uint64(1)), AdditionalProperties: &jsonschema.Schema{Ref: "#/$defs/" + def}}
		}
	}
	leaves[reflect.TypeFor[yamlfile.Keyed[scale]]()] = chosen("scale")
	leaves[reflect.TypeFor[yamlfile.Keyed[scaledPart]]()] = chosen("scaledPart")
	leaves[reflect.TypeFor[yamlfile.Keyed[paperRow]]()] = chosen("paperRow")
	leaves[reflect.TypeFor[yamlfile.Keyed[yamlfile.Text]]()] = func() *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", MinProperties: new(uint64(1)), AdditionalProperties: leaves[reflect.TypeFor[yamlfile.Text]()]()}
	}
	leaves[reflect.TypeFor[yamlfile.Keyed[yamlfile.Axes]]()] = chosen("levelsHere")
	r := &jsonschema.Reflector{
		Anonymous: true, FieldNameTag: "key", RequiredFromJSONSchemaTags: true, ExpandedStruct: true,
		Mapper: func(rt reflect.Type) *jsonschema.Schema {
			if f, ok := leaves[rt]; ok {
				return f()
			}
			return nil
		},
	}
	s := r.Reflect(&document{})
	for name, v := range map[string]any{"scale": &scale{}, "scaledPart": &scaledPart{}, "paperRow": &paperRow{}} {
		x := r.Reflect(v)
		s.Definitions[name] = &jsonschema.Schema{Type: "object", Properties: x.Properties, Required: x.Required, AdditionalProperties: x.AdditionalProperties}
		for k, d := range x.Definitions {
			if s.Definitions[k] == nil {
				s.Definitions[k] = d
			}
		}
	}
	s.ID = "" // the schema is a file; it has no address
	s.Title = "Plimsoll study"
	s.Description = "What to measure: environments, workloads and a protocol. See docs/studies.md."

	maps.Copy(s.Definitions, r.Reflect(&claimsFile{}).Definitions)
	names := &jsonschema.Schema{OneOf: []*jsonschema.Schema{claimName(), {Type: "array", Items: claimName(), MinItems: new(uint64(1))}}}
	long := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"name", "parameters"}, AdditionalProperties: jsonschema.FalseSchema}
	long.Properties.Set("name", names)
	long.Properties.Set("parameters", settings())
	s.Definitions["claimWork"] = &jsonschema.Schema{Description: "Workloads by name or id, or with parameters.", OneOf: []*jsonschema.Schema{names, long}}
	s.Definitions["word"], s.Definitions["levels"], s.Definitions["setting"] = wordSchema, levelsSchema, settingSchema
	s.Definitions["settings"] = several(setting)()
	// An image may be a reference too.
	imageSchema := &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "string", Pattern: yamlfile.ReferencePattern, MaxLength: new(uint64(yamlfile.MaxReference))}, {Type: "number", Minimum: "0"}}}
	image := func() *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/image"} }
	s.Definitions["image"] = imageSchema
	s.Definitions["images"] = &jsonschema.Schema{OneOf: []*jsonschema.Schema{image(), {Type: "array", Items: image(), MinItems: new(uint64(1)), UniqueItems: true}}}
	// Mechanisms may be joined.
	mechanism := func() *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/mechanism"} }
	s.Definitions["mechanism"] = &jsonschema.Schema{Type: "string", Pattern: yamlfile.JoinedPattern, MaxLength: new(uint64(yamlfile.MaxReference))}
	s.Definitions["mechanisms"] = &jsonschema.Schema{OneOf: []*jsonschema.Schema{mechanism(), {Type: "array", Items: mechanism(), MinItems: new(uint64(1)), UniqueItems: true}}}
	of := func(f string) (word, levels *jsonschema.Schema) {
		name := [2]string{"word", "levels"}
		switch f {
		case imageFactor:
			name = [2]string{"image", "images"}
		case memoryFactor:
			name = [2]string{"setting", "settings"}
		case withoutFactor, withFactor, tunedFactor:
			name = [2]string{"mechanism", "mechanisms"}
		}
		return &jsonschema.Schema{Ref: "#/$defs/" + name[0]}, &jsonschema.Schema{Ref: "#/$defs/" + name[1]}
	}
	env := s.Definitions["environment"]
	env.Properties.Delete("Levels") // stands for the factors, which follow
	for _, f := range engine.Factors {
		_, l := of(f)
		l.Description = "Level of the factor " + f + ", or a list."
		env.Properties.Set(f, l)
	}
	for def, what := range map[string]string{"environment": "An engine by its name, or a matrix.", "workload": "A workload by its name or its file, or with parameters."} {
		full := s.Definitions[def]
		forms := []*jsonschema.Schema{nameSchema(), full}
		if def == "workload" {
			full.OneOf = []*jsonschema.Schema{{Required: []string{"name"}}, {Required: []string{"file"}}}
			forms = []*jsonschema.Schema{{AnyOf: []*jsonschema.Schema{nameSchema(), pattern(pathPattern)}}, full}
		}
		s.Definitions[def] = &jsonschema.Schema{Description: what, OneOf: forms}
	}
	// Common and exclusions know the same factors as environments.
	one := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema, MinProperties: new(uint64(1))}
	when := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema, MinProperties: new(uint64(1))}
	citation := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema, MinProperties: new(uint64(1))}
	s.Definitions["levelsHere"] = citation
	citation.Properties.Set(whenEngine, levels())
	when.Properties.Set(whenEngine, levels())
	when.Properties.Set(whenWorkload, levels())
	for _, f := range engine.Factors {
		w, l := of(f)
		one.Properties.Set(f, w)
		when.Properties.Set(f, l)
		citation.Properties.Set(f, l)
	}
	replace := func(in *jsonschema.Schema, key string, with *jsonschema.Schema) {
		old, ok := in.Properties.Get(key)
		if !ok {
			t.Fatalf("the schema has no %s", key)
		}
		with.Description = old.Description
		in.Properties.Set(key, with)
	}
	replace(s, "common", one)
	replace(s.Definitions["exclusion"], "when", when)
	// A claim's environments know the engine too.
	side := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema, MinProperties: new(uint64(1))}
	side.Properties.Set(whenEngine, levels())
	for _, f := range engine.Factors {
		_, l := of(f)
		side.Properties.Set(f, l)
	}
	s.Definitions["claimSide"] = side
	for _, def := range []string{"claimTest", "claimAnswer"} {
		replace(s.Definitions[def], "of", &jsonschema.Schema{Ref: "#/$defs/claimSide"})
		replace(s.Definitions[def], "to", &jsonschema.Schema{OneOf: []*jsonschema.Schema{nameSchema(), {Ref: "#/$defs/claimSide"}}})
	}

	b, err := json.MarshalIndent(s, "", "  ")
	require.NoError(t, err)
	return append(b, '\n')
}

func TestSchemaIsUpToDate(t *testing.T) {
	golden.Check(t, schemaFile, string(generate(t)))
}

// valid asks an independent validator.
func valid(t *testing.T) func(data []byte) error {
	t.Helper()
	doc, err := validator.UnmarshalJSON(bytes.NewReader(generate(t)))
	require.NoError(t, err)
	c := validator.NewCompiler()
	require.NoError(t, c.AddResource("study.json", doc))
	schema, err := c.Compile("study.json")
	require.NoError(t, err)
	return func(data []byte) error {
		var v any
		if err := yaml.Load(data, &v); err != nil {
			return err
		}
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		j, err := validator.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			return err
		}
		return schema.Validate(j)
	}
}

// Every bundled study is valid by the schema and by the reader, says what it
// is, and bears its file's name.
func TestBundledStudies(t *testing.T) {
	check := valid(t)
	for _, n := range Names() {
		data, err := studies.FS.ReadFile(n + ".yaml")
		require.NoError(t, err)
		if err := check(data); err != nil {
			t.Errorf("%s: %v", n, err)
		}
		s, err := Load(n, market())
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Name != n || s.Title == "" || s.Description == "" {
			t.Errorf("%s.yaml has name %q, title %q and description %q", n, s.Name, s.Title, s.Description)
		}
		if _, err := Expand(s, market(), Options{}); err != nil {
			t.Error(err)
		}
	}
}

// Where schema and reader can both judge, they agree: what is wrong in its
// form is wrong for both. Words that are only missing from the catalogue, and
// what JSON can't tell, are left to the reader.
func TestSchemaAgrees(t *testing.T) {
	check := valid(t)
	onlyReader := []string{
		"unknown-engine", "unknown-level", "unknown-workload", "unknown-parameter", "unknown-metric", "unknown-baseline",
		"workload-twice", "missing", "ranges", "impossible", "many-errors", "too-many-", "extends-", "control", "published", "parts-", "scale-", "claims-file", "claims-published", "claims-sides", "claims-source", "claims-units",
	}
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	tried := 0
next:
	for _, f := range files {
		n := strings.TrimSuffix(filepath.Base(f), ".yaml")
		for _, o := range onlyReader {
			if strings.HasPrefix(n, o) && n != "missing-in-entry" {
				continue next
			}
		}
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		tried++
		if check(data) == nil && n != "anchor" && n != "merge-key" && n != "tag" && n != "utf-16" {
			t.Errorf("%s is valid by the schema", n)
		}
	}
	if tried < 30 {
		t.Errorf("only %d files were tried", tried)
	}
}

// The examples of the manual are studies that can be read.
func TestManual(t *testing.T) {
	b, err := os.ReadFile("../../../docs/studies.md")
	require.NoError(t, err)
	check := valid(t)
	blocks := strings.Split(string(b), "```yaml\n")[1:]
	whole := 0
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		if !strings.HasPrefix(text, "plimsoll:") {
			text = "plimsoll: 1\nname: t\n" + text
			for _, k := range []string{"workloads: [hello]\n", "environments: [docker]\n"} {
				if key, _, _ := strings.Cut(k, " "); !strings.Contains("\n"+text, "\n"+key) {
					text += k
				}
			}
		} else {
			whole++
		}
		if err := check([]byte(text)); err != nil {
			t.Errorf("%v in:\n%s", err, text)
		}
		s, err := Read(Source{Path: "docs/studies.md", Data: []byte(text)}, catalogue())
		if err != nil {
			t.Errorf("%v in:\n%s", err, text)
			continue
		}
		if _, err := Expand(s, catalogue(), Options{}); err != nil {
			t.Errorf("%v in:\n%s", err, text)
		}
	}
	if len(blocks) < 5 || whole < 1 {
		t.Errorf("the manual has %d examples, %d of them whole", len(blocks), whole)
	}
}
