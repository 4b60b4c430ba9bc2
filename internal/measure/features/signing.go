package features

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// simpleSigning signs an image with a key of ours by pushing it, and lets the
// policy judge it and another one under its name.
func simpleSigning(t *try) {
	home := filepath.Join(t.dir, "home")
	env := []string{"HOME=" + home, "GNUPGHOME=" + home + "/gnupg"}
	signatures := filepath.Join(t.dir, "signatures")
	for _, d := range []string{home + "/gnupg", signatures} {
		t.need("making a directory for keys", os.MkdirAll(d, 0o700))
	}
	run := func(argv ...string) said { return t.runAs(env, nil, argv...) }
	prepare := func(argv ...string) {
		if s := run(argv...); s.status != 0 {
			t.untried("preparing a signature failed: %s", t.plain(s))
		}
	}
	b := t.b
	defer func() { b.command(t.ctx, env, nil, []string{"gpgconf", "--kill", "all"}) }()
	prepare("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "plimsoll@localhost", "ed25519", "sign", "never")
	key := filepath.Join(t.dir, "key.pub")
	prepare("gpg", "--batch", "--quiet", "--export", "--output", key, "plimsoll@localhost")

	img := t.image()
	path := "plimsoll/signed:" + b.kit.RunID
	ref := b.registry.addr + "/" + path
	repo, _, _ := strings.Cut(ref, ":"+b.kit.RunID)
	t.file("home/.config/containers/registries.d/plimsoll.yaml", fmt.Sprintf("docker:\n  %s:\n    lookaside: file://%s\n    sigstore: file://%s\n", b.registry.addr, signatures, signatures))
	// Pushing reads from the store, which the policy must let through.
	t.file("home/.config/containers/policy.json", `{"default": [{"type": "insecureAcceptAnything"}]}`)
	prepare(b.hand.cmd("push", "--quiet", "--tls-verify=false", "--sign-by", "plimsoll@localhost", img, ref)...)

	t.file("home/.config/containers/policy.json", strings.NewReplacer("REPOSITORY", repo, "KEY", key).Replace(b.policy))
	t.cleanAll(b.hand.drop(ref))
	if s := run(b.hand.pull(ref)...); s.status != 0 {
		t.untried("the signed image was refused, too: %s", t.plain(s))
	}
	// Another image under the same name, with the signature of the first laid
	// beside it.
	tampered, err := withLayer(t.plainSample().Image, entry{path: "tampered", data: []byte("tampered")})
	if err == nil {
		err = b.registry.put(t.ctx, path, tampered)
	}
	digest, derr := "", error(nil)
	if err == nil {
		d, e := tampered.Digest()
		digest, derr = d.Hex, e
	}
	signed, _ := filepath.Glob(filepath.Join(signatures, "plimsoll", "signed@sha256=*", "signature-1"))
	if err != nil || derr != nil || len(signed) != 1 {
		t.untried("tampering with the image failed: %v %v, %d signatures", err, derr, len(signed))
	}
	text, err := os.ReadFile(signed[0])
	t.need("reading the signature", err)
	t.file("signatures/plimsoll/signed@sha256="+digest+"/signature-1", string(text))
	s := run(b.hand.pull(ref)...)
	if s.status == 0 {
		t.no("the signed image was accepted, and so was another one under its name and signature")
	}
	if !s.holds("signature", "digest", "policy") {
		t.untried("the tampered image was refused for another reason: %s", t.plain(s))
	}
	t.yes("by its policy: the signed image was accepted, a tampered one refused")
}

// signedOnly is a policy that accepts one repository by one key, and nothing
// else.
const signedOnly = `{"default": [{"type": "reject"}],
 "transports": {"docker": {"REPOSITORY": [{"type": "signedBy", "keyType": "GPGKeys", "keyPath": "KEY"}]}}}`

// pgpSigning signs a SIF with a PGP key of ours and changes some bytes of it.
func pgpSigning(t *try) {
	keys := "KEYSDIR=" + filepath.Join(t.dir, "keys")
	env := append([]string{"APPTAINER_" + keys, "SINGULARITY_" + keys}, t.b.env...)
	prepare := func(args ...string) {
		if s := t.runAs(env, nil, t.b.hand.cmd(args...)...); s.status != 0 {
			t.untried("preparing a signature failed: %s", t.plain(s))
		}
	}
	data, err := os.ReadFile(t.image())
	t.need("reading the image", err)
	sif := t.file("signed.sif", string(data))
	prepare("key", "newpair", "--name", "plimsoll", "--email", "plimsoll@localhost", "--comment", "of a run", "--password", "", "--push=false", "--bit-length", "2048")
	prepare("sign", sif)
	verify := t.b.hand.cmd("verify", "--local", sif)
	if s := t.runAs(env, nil, verify...); s.status != 0 {
		t.untried("the signed image was refused, too: %s", t.plain(s))
	}
	if data, err = os.ReadFile(sif); err != nil {
		t.untried("reading the image: %v", err)
	}
	at := bytes.Index(data, []byte("hsqs")) // where its file system begins
	if at < 0 || at+4096 > len(data) {
		t.untried("the file system in the SIF was not found")
	}
	for i := range 16 {
		data[at+2048+i] ^= 0xff
	}
	t.file("signed.sif", string(data))
	s := t.runAs(env, nil, verify...)
	if s.status == 0 {
		t.no("the signed image was verified, and so was the same with changed bytes")
	}
	t.yes("verify accepted the signed image and refused it with changed bytes; a run asks for no signature unless the administrator's execution control list does")
}
