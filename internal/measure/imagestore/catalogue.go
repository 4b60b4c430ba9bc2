//go:build linux

package imagestore

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/image"
)

// Description is one row of the catalogue.
type Description struct {
	Name string `json:"name"`
	What string `json:"what"` // one sentence
	How  string `json:"how"`  // where its content comes from
}

// recipe makes the content of one image.
type recipe struct {
	Description
	build func(ctx context.Context, s *Store) (*content, error)
	// bases are what must be made on demand first, by bootstrap.
	bases func(s *Store) ([]string, error)
	ref   string // of an image that a registry gives
}

// referred is the recipe of an image by reference.
func referred(as, ref string) recipe {
	return recipe{Description: Description{
		Name: as, What: "the image " + ref + " of its registry, and the probe",
		How: "by reference, from the registry when that can be reached; it stays what it is until plimsoll image pull",
	}, build: buildReference(as, ref), ref: ref}
}

// only is a recipe's single base.
func only(name string) func(*Store) ([]string, error) {
	return func(*Store) ([]string, error) { return []string{name}, nil }
}

// recipes is the catalogue. To add an image is to add a row.
var recipes = []recipe{
	{Description: Description{
		Name: "payload",
		What: "the probe alone, with the empty directories and files that engines mount on",
		How:  "assembled from the probe inside this program",
	}, build: buildPayload},
	{Description: Description{
		Name: "busybox",
		What: "BusyBox with a link for each of its applets, and the probe",
		How:  "assembled from the host's statically linked busybox (package busybox-static)",
	}, build: buildBusyBox},
	{Description: Description{
		Name: "debian",
		What: "Debian's minimal system without its documentation, and the probe",
		How:  "on demand, by debootstrap from the apt sources of this machine, where it is a Debian",
	}, build: buildMinimal("debian"), bases: only("debian")},
	{Description: Description{
		Name: "ubuntu-base",
		What: "Ubuntu's minimal system without its documentation, and the probe",
		How:  "on demand, by debootstrap from the apt sources of this machine, where it is an Ubuntu",
	}, build: buildMinimal("ubuntu-base"), bases: only("ubuntu-base")},
	{Description: Description{
		Name: "toolbox",
		What: "the minimal system of this machine's distribution with the programs that workloads run",
		How:  "on demand, by debootstrap from the apt sources of this machine, with " + strings.Join(toolboxPackages, ", "),
	}, build: buildToolbox, bases: func(s *Store) ([]string, error) {
		d, err := s.distribution()
		return []string{minimalName(d.ID), "toolbox"}, err
	}},
	referred("alpine", "docker.io/library/alpine:3"),
	referred("ubuntu", "docker.io/library/ubuntu:latest"),
	referred("centos", "docker.io/library/centos:latest"),
}

// List gives the catalogue, in the order in which it is shown.
func List() []Description {
	l := make([]Description, 0, len(recipes))
	for _, r := range recipes {
		l = append(l, r.Description)
	}
	return l
}

// Describe gives the description of one image, or of a reference.
func Describe(name string) (Description, error) {
	r, err := recipeFor(name)
	return r.Description, err
}

func recipeFor(name string) (recipe, error) {
	if r, ok, err := dataRecipe(name); ok {
		return r, err
	}
	var known []string
	for _, r := range recipes {
		if r.Name == name {
			return r, nil
		}
		known = append(known, r.Name)
	}
	if IsReference(name) {
		return referred(name, name), nil
	}
	return recipe{}, &Error{Text: fmt.Sprintf("there is no image %q; the images are %s", name, strings.Join(known, ", ")+"; a reference to a registry has a ':' or a '/'")}
}

// probeLayer is the topmost layer of every image but the payload.
func probeLayer(s *Store) (tree, error) {
	if len(s.probe) == 0 {
		return nil, &Error{Text: "assembling an image: the probe is empty"}
	}
	return tree{{path: image.ProbePath, kind: kindFile, mode: 0o755, data: s.probe}}, nil
}

func buildPayload(_ context.Context, s *Store) (*content, error) {
	top, err := probeLayer(s)
	if err != nil {
		return nil, err
	}
	t := skeleton()
	t.add(top[0])
	return contentOf(nil, t), nil
}

const busyBoxFix = "apt-get install busybox-static"

func buildBusyBox(ctx context.Context, s *Store) (*content, error) {
	top, err := probeLayer(s)
	if err != nil {
		return nil, err
	}
	file, err := s.opts.LookPath("busybox")
	if err != nil {
		return nil, &Error{Text: "assembling the image busybox: there is no busybox on this machine", Fix: busyBoxFix, Err: err}
	}
	data, err := safepath.ReadRegular(file, 64<<20, "the program busybox")
	if err != nil {
		return nil, &Error{Text: "assembling the image busybox", Err: err}
	}
	if err := mustBeStatic(data); err != nil {
		return nil, &Error{Text: fmt.Sprintf("assembling the image busybox: %s can't be used in an image", file), Fix: busyBoxFix, Err: err}
	}
	applets, err := applets(ctx, file)
	if err != nil {
		return nil, &Error{Text: fmt.Sprintf("asking %s for its applets", file), Fix: busyBoxFix, Err: err}
	}
	t := skeleton()
	t.add(entry{path: "/bin/busybox", kind: kindFile, mode: 0o755, data: data})
	for _, a := range applets {
		if !t.has("/" + a) {
			t.add(entry{path: "/" + a, kind: kindLink, link: "/bin/busybox"})
		}
	}
	return contentOf(nil, t, top), nil
}

// mustBeStatic refuses a program that needs a dynamic linker, which the image
// has not: it would fail inside with "no such file".
func mustBeStatic(program []byte) error {
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return fmt.Errorf("reading it as ELF: %w", err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("it is dynamically linked")
		}
	}
	return nil
}

// applets asks busybox where its applets belong, as paths without the leading
// slash, sorted.
func applets(ctx context.Context, file string) ([]string, error) {
	out, err := child.Run(ctx, child.Command{Argv: []string{file, "--list-full"}, Limit: 10 * time.Second})
	if err != nil {
		return nil, err
	}
	return parseApplets(string(out.Stdout))
}

func parseApplets(out string) ([]string, error) {
	var l []string
	for p := range strings.Lines(out) {
		p = strings.TrimSpace(p)
		if p == "" || p == "bin/busybox" {
			continue
		}
		// A path becomes a link in the image: what is not plain is refused.
		if strings.HasPrefix(p, "/") || slices.Contains(strings.Split(p, "/"), "..") || strings.ContainsAny(p, " \t\x00") {
			return nil, fmt.Errorf("its list has %q, which is not the path of an applet", p)
		}
		l = append(l, p)
	}
	if len(l) == 0 {
		return nil, errors.New("its list is empty")
	}
	slices.Sort(l)
	return slices.Compact(l), nil
}

// ReferenceOf is the reference that an image comes by, of a name of the
// catalogue or of a reference itself; "" for one that comes from no registry.
func ReferenceOf(name string) string {
	r, err := recipeFor(name)
	if err != nil {
		return ""
	}
	return r.ref
}
