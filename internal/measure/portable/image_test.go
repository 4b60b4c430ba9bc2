package portable

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/likeness"
	"plimsoll/internal/record"
)

// archive writes an image with one file of this content, as docker save does.
func archive(t *testing.T, content string) string {
	t.Helper()
	img, err := imagestore.Payload([]byte(content), nil)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "image.tar")
	out, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, write(img, "localhost/some:thing", out))
	require.NoError(t, out.Close())
	return file
}

// What an archive held is known again: the same content in another file is the same
// image, and other content under its name is a difference that a resume is refused for.
func TestResumeKnowsArchives(t *testing.T) {
	held := func(file string) []record.Image {
		im := &Images{RunID: "abcd1234", Archives: map[string]string{"toolbox": file}}
		if _, err := im.get(t.Context(), "toolbox"); err != nil {
			t.Fatal(err)
		}
		if _, err := im.get(t.Context(), payloadImage); err != nil {
			t.Fatal(err)
		}
		return im.held
	}
	first := held(archive(t, "one"))
	if len(first) != 1 || first[0].Name != "toolbox" || !strings.HasPrefix(first[0].WithoutProbe, "sha256:") {
		t.Fatalf("%+v", first)
	}
	var said []string
	resumed := func(was, now []record.Image) error {
		r := &run{Options: Options{Run: &record.Run{Images: now}, Say: func(text string) { said = append(said, text) }}, was: &record.Run{ID: "abcd1234", Images: was}}
		return likeness.Judge("abcd1234", r.differs(), false)
	}
	if err := resumed(first, held(archive(t, "one"))); err != nil || len(said) > 0 {
		t.Errorf("the same content: %v, %q", err, said)
	}
	if err := resumed(first, held(archive(t, "two"))); err == nil || !strings.Contains(err.Error(), "content of the image toolbox: sha256:") {
		t.Errorf("other content: %v", err)
	}
	if err := resumed(nil, held(archive(t, "two"))); err != nil || len(said) != 1 || !strings.Contains(said[0], "toolbox") {
		t.Errorf("a record that doesn't say it: %v, %q", err, said)
	}
}
