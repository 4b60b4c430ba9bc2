package adapter

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"docker: Error response from daemon: boom.\nSee 'docker run --help'.\n": "docker: Error response from daemon: boom.",
		"\x1b[31mFATAL:  \x1b[0m  could not open image\n":                       "FATAL:    could not open image",
		"2024-05-01T10:00:00.123Z: invalid config\n":                            "invalid config",
		"{\"level\":\"error\",\"msg\":\"it broke\"}\n":                          "it broke",
		"error: real\nWARNING: chatter\n":                                       "error: real",
		"WARNING: only chatter\n\n":                                             "WARNING: only chatter",
		"time=\"1\" level=warning msg=quiet\n":                                  "quiet",
	} {
		if got := Words([]byte(in)); got != want {
			t.Errorf("Words(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Words([]byte(strings.Repeat("x", 5000))); len(got) > maxWords+4 {
		t.Errorf("%d bytes are quoted", len(got))
	}
}
