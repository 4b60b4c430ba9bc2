package workload

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/yamlfile"
)

const schemaFile = "../../../schema/workload.schema.json"

// generate makes the JSON Schema of the format from the document types.
func generate(t *testing.T) []byte {
	t.Helper()
	pattern := func(p string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Pattern: p} }
	scalar := func() *jsonschema.Schema {
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string", MaxLength: new(uint64(maxArgument))}, {Type: "number"}, {Type: "boolean"}}}
	}
	ref := func(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }
	list := func(of *jsonschema.Schema) *jsonschema.Schema {
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{of, {Type: "array", Items: of, MinItems: new(uint64(1)), UniqueItems: true}}}
	}
	settings := func() *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", MinProperties: new(uint64(1)), AdditionalProperties: list(ref("level"))}
	}
	// What refers to structs that are reached only through a leaf.
	structs := map[string]any{"role": &role{}, "parameter": &parameter{}, "conditional": &conditional{}}
	leaves := map[reflect.Type]func() *jsonschema.Schema{
		reflect.TypeFor[yamlfile.Name](): func() *jsonschema.Schema {
			return &jsonschema.Schema{Type: "string", Pattern: yamlfile.NamePattern, MaxLength: new(uint64(yamlfile.MaxWord))}
		},
		reflect.TypeFor[yamlfile.Text](): func() *jsonschema.Schema {
			return &jsonschema.Schema{Type: "string", MinLength: new(uint64(1)), MaxLength: new(uint64(yamlfile.MaxText))}
		},
		reflect.TypeFor[yamlfile.Count]():        func() *jsonschema.Schema { return &jsonschema.Schema{Type: "integer"} },
		reflect.TypeFor[yamlfile.Flag]():         func() *jsonschema.Schema { return &jsonschema.Schema{Type: "boolean"} },
		reflect.TypeFor[yamlfile.Duration]():     func() *jsonschema.Schema { return pattern(yamlfile.DurationPattern) },
		reflect.TypeFor[yamlfile.Size]():         func() *jsonschema.Schema { return pattern(yamlfile.SizePattern) },
		reflect.TypeFor[yamlfile.SettingWords](): func() *jsonschema.Schema { return list(ref("level")) },
		reflect.TypeFor[yamlfile.Settings]():     settings,
		reflect.TypeFor[argument]():              scalar,
		reflect.TypeFor[imageName]():             func() *jsonschema.Schema { return pattern(yamlfile.ReferencePattern) },
		reflect.TypeFor[factor]():                func() *jsonschema.Schema { return &jsonschema.Schema{Type: "number", ExclusiveMinimum: "0"} },
		reflect.TypeFor[command]():               func() *jsonschema.Schema { return ref("command") },
		reflect.TypeFor[parameters](): func() *jsonschema.Schema {
			return &jsonschema.Schema{Type: "object", MinProperties: new(uint64(1)), AdditionalProperties: ref("parameter")}
		},
		reflect.TypeFor[roles](): func() *jsonschema.Schema {
			return &jsonschema.Schema{Type: "object", MinProperties: new(uint64(1)), AdditionalProperties: ref("role")}
		},
	}
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
	s.ID = "" // the schema is a file; it has no address
	s.Title = "Plimsoll workload"
	s.Description = "What runs inside a container, and how numbers come out of what it prints. See docs/add-a-workload.md."
	s.Definitions["level"] = &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "string", Pattern: yamlfile.SettingPattern, MaxLength: new(uint64(yamlfile.MaxWord))}, {Type: "number", Minimum: "0"}}}
	s.Definitions["command"] = &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "array", MinItems: new(uint64(1)), Items: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{scalar(), ref("conditional")}}},
		ref("conditional")}}
	for _, name := range slices.Sorted(maps.Keys(structs)) {
		one := r.Reflect(structs[name])
		maps.Copy(s.Definitions, one.Definitions)
		one.Definitions, one.ID, one.Version = nil, "", ""
		s.Definitions[name] = one
	}
	b, err := json.MarshalIndent(s, "", "  ")
	require.NoError(t, err)
	return append(b, '\n')
}

func TestSchema(t *testing.T) {
	got := generate(t)
	if *update {
		require.NoError(t, os.WriteFile(schemaFile, got, 0o600))
	}
	want, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	if !bytes.Equal(got, want) {
		t.Error("schema/workload.schema.json is not what the types give; make it anew with: go test ./internal/measure/workload -run Schema -update")
	}
	doc, err := validator.UnmarshalJSON(bytes.NewReader(got))
	require.NoError(t, err)
	c := validator.NewCompiler()
	require.NoError(t, c.AddResource("workload.json", doc))
	schema, err := c.Compile("workload.json")
	require.NoError(t, err)
	valid := func(text string) error {
		var v any
		if err := yaml.Load([]byte(text), &v); err != nil {
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
	for _, w := range Catalogue() {
		if w.file != nil {
			if err := valid(w.Source); err != nil {
				t.Errorf("%s: %v", w.Name, err)
			}
		}
	}
	// What is wrong in its form is wrong for an editor too.
	for _, name := range []string{"unknown-keys", "command-line", "newer", "study"} {
		b, err := os.ReadFile("testdata/bad/" + name + ".yaml")
		require.NoError(t, err)
		if valid(string(b)) == nil {
			t.Errorf("%s is valid by the schema", name)
		}
	}
}
