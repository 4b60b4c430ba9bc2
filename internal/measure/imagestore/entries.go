package imagestore

import (
	"archive/tar"
	"fmt"
	"io"
	"path"
	"strings"
)

// path of programs inside; engines that take no image (native, a bare
// runtime) are given the same by their adapters.
const insidePath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// writeEntries writes the tree as a layer has it.
func (t tree) writeEntries(tw *tar.Writer) error {
	for i := range t {
		e := &t[i]
		if e.path == "/" {
			continue // a layer's root is the engine's own
		}
		h := &tar.Header{
			Name: strings.TrimPrefix(e.path, "/"), Mode: int64(e.mode), ModTime: epoch, Format: tar.FormatPAX,
		}
		switch e.kind {
		case kindDir:
			h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		case kindLink:
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
		case kindGone:
			h.Typeflag, h.Name = tar.TypeReg, strings.TrimPrefix(path.Dir(e.path)+"/.wh."+path.Base(e.path), "/")
		default:
			h.Typeflag, h.Size = tar.TypeReg, e.length()
		}
		err := tw.WriteHeader(h)
		if err == nil && h.Size > 0 {
			err = e.copyTo(tw)
		}
		if err != nil {
			return fmt.Errorf("writing %s to the layer: %w", e.path, err)
		}
	}
	return nil
}

func (e *entry) copyTo(w io.Writer) error {
	from, err := e.content()
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(w, from)
	return err
}
