package lxd

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// born is every image's date of creation: the same content gives the same
// fingerprint.
const born = 1577836800 // 2020-01-01

// metadata is an image's description of itself, the one file that makes a
// root file system an image.
func metadata(name, arch string) []byte {
	return fmt.Appendf(nil, "architecture: %s\ncreation_date: %d\nproperties:\n  description: plimsoll %s\n", arch, born, name)
}

// tarFile adds a file that exists in memory only.
func tarFile(w *tar.Writer, name string, text []byte) error {
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), ModTime: time.Unix(born, 0), Format: tar.FormatPAX})
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// tarTree adds a directory below a name, everything root's.
func tarTree(w *tar.Writer, dir, name string) error {
	return filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		link := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if link, err = os.Readlink(file); err != nil {
				return err
			}
		}
		h, err := tar.FileInfoHeader(info, link)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		h.Name = filepath.Join(name, rel)
		h.Uid, h.Gid, h.Uname, h.Gname = 0, 0, "", ""
		h.Format, h.AccessTime, h.ChangeTime = tar.FormatPAX, time.Time{}, time.Time{}
		if err := w.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
			return err
		}
		return copyFile(w, file)
	})
}

func copyFile(w io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// writeUnified writes an image in one piece: a tar with the description and
// the root file system below rootfs.
func writeUnified(out io.Writer, meta []byte, dir string) error {
	w := tar.NewWriter(out)
	if err := tarFile(w, "metadata.yaml", meta); err != nil {
		return err
	}
	if err := tarTree(w, dir, "rootfs"); err != nil {
		return err
	}
	return w.Close()
}

// writeSplit writes an image in two pieces, as the parts of a form: a tar with
// the description, and a SquashFS.
func writeSplit(form *multipart.Writer, meta []byte, squash string) error {
	part, err := form.CreateFormFile("metadata", "metadata.tar")
	if err != nil {
		return err
	}
	w := tar.NewWriter(part)
	if err := errors.Join(tarFile(w, "metadata.yaml", meta), w.Close()); err != nil {
		return err
	}
	if part, err = form.CreateFormFile("rootfs", filepath.Base(squash)); err != nil {
		return err
	}
	if err := copyFile(part, squash); err != nil {
		return err
	}
	return form.Close()
}

// upload imports an image and gives its fingerprint. Its content is streamed.
func (d *daemon) upload(ctx context.Context, kind string, write func(io.Writer) error) (string, error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(write(w)) }()
	// The image's own description has no label in it, so that the same content
	// gives the same fingerprint.
	label := url.Values{labelKey: {d.run}}.Encode()
	a, err := d.send(ctx, http.MethodPost, d.address("http", "/1.0/images"), kind, r, "X-"+d.prefix+"-properties", label)
	_ = r.Close() // ends the writer where the daemon stopped reading
	if err != nil {
		return "", err
	}
	op, err := d.wait(ctx, operationID(a.Operation))
	if err != nil {
		return "", err
	}
	var m struct{ Fingerprint string }
	if err := json.Unmarshal(op.Metadata, &m); err != nil || m.Fingerprint == "" {
		return "", fmt.Errorf("the daemon gave no fingerprint of the image (%s)", op.Metadata)
	}
	return m.Fingerprint, nil
}

// importImage provides an image to the project; its alias is its name.
func (e *Engine) importImage(ctx context.Context, kit *engine.Kit, d *daemon, s *server, name string) error {
	format := image.SquashFS
	if e.unified {
		format = image.Directory
	}
	path, err := kit.Images.Path(ctx, name, format)
	if err != nil {
		return &engine.Error{Class: record.Unavailable, Text: "providing the image " + name + " for " + e.title, Err: err}
	}
	meta := metadata(name, s.Environment.KernelArchitecture)
	var print string
	if e.unified {
		print, err = d.upload(ctx, "application/octet-stream", func(w io.Writer) error { return writeUnified(w, meta, path) })
	} else {
		r := multipart.NewWriter(io.Discard) // for a boundary that both sides know
		print, err = d.upload(ctx, r.FormDataContentType(), func(w io.Writer) error {
			form := multipart.NewWriter(w)
			if err := form.SetBoundary(r.Boundary()); err != nil {
				return err
			}
			return writeSplit(form, meta, path)
		})
	}
	if err != nil {
		return d.wrong("importing the image "+name, err)
	}
	err = d.call(ctx, http.MethodPost, "/1.0/images/aliases", map[string]any{"name": e.alias(name), "target": print})
	if err != nil {
		return d.wrong("naming the image "+name, err)
	}
	return nil
}

// alias is what an image is called in the project.
func (e *Engine) alias(name string) string {
	if e.unified {
		return name + "-unified"
	}
	return name
}

// imageFormat is how images are handed over, for the facts.
func (e *Engine) imageFormat() string {
	if e.unified {
		return "unified (tar)"
	}
	return "split (SquashFS)"
}

// imageFingerprint finds an image by its alias.
func (d *daemon) imageFingerprint(ctx context.Context, alias string) (string, error) {
	var a struct{ Target string }
	err := d.get(ctx, "/1.0/images/aliases/"+alias, &a)
	return a.Target, err
}
