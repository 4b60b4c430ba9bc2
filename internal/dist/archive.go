package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// archive packs a directory, under its own name: entries in order, all of one
// time and of root, executable or not and nothing else.
func archive(file, dir string, at time.Time) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	switch {
	case strings.HasSuffix(file, ".tar.gz"):
		err = tarGz(out, dir, at)
	case strings.HasSuffix(file, ".zip"):
		err = zipped(out, dir, at)
	default:
		err = fmt.Errorf("%s is neither .tar.gz nor .zip", file)
	}
	return errors.Join(err, out.Close())
}

// each walks a directory in lexical order; path is that in the archive.
func each(dir string, do func(path string, info fs.FileInfo, content io.Reader) error) error {
	parent := filepath.Dir(filepath.Clean(dir))
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(parent, p)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return do(filepath.ToSlash(rel)+"/", info, nil)
		}
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		return do(filepath.ToSlash(rel), info, f)
	})
}

// mode is 0755 for what is executable or a directory, else 0644.
func mode(info fs.FileInfo) fs.FileMode {
	if info.IsDir() || info.Mode()&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

func tarGz(w io.Writer, dir string, at time.Time) error {
	gz, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(gz)
	err = each(dir, func(path string, info fs.FileInfo, content io.Reader) error {
		h := &tar.Header{Name: path, Mode: int64(mode(info)), ModTime: at, Uname: "root", Gname: "root", Typeflag: tar.TypeDir, Format: tar.FormatUSTAR}
		if content != nil {
			h.Typeflag, h.Size = tar.TypeReg, info.Size()
		}
		if err := tw.WriteHeader(h); err != nil || content == nil {
			return err
		}
		_, err := io.Copy(tw, content)
		return err
	})
	return errors.Join(err, tw.Close(), gz.Close())
}

func zipped(w io.Writer, dir string, at time.Time) error {
	zw := zip.NewWriter(w)
	err := each(dir, func(path string, info fs.FileInfo, content io.Reader) error {
		h := &zip.FileHeader{Name: path, Method: zip.Deflate, Modified: at}
		h.SetMode(mode(info) | info.Mode()&fs.ModeDir)
		if content == nil {
			h.Method = zip.Store
		}
		to, err := zw.CreateHeader(h)
		if err != nil || content == nil {
			return err
		}
		_, err = io.Copy(to, content)
		return err
	})
	return errors.Join(err, zw.Close())
}
