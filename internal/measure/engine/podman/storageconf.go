package podman

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/record"
)

// confDigits is how much of a storage.conf's digest is in the names of its store: a
// --runroot may have few bytes.
const confDigits = 6

// reservedStorage are the keys of a storage.conf that a store of the run's has already.
var reservedStorage = map[string]string{
	"storage.driver": "which is the factor storage: name a level of it in the study", "storage.driver_priority": "which is the factor storage: name a level of it in the study",
	"storage.graphroot": runsOwn, "storage.runroot": runsOwn, "storage.rootless_storage_path": runsOwn, "storage.imagestore": runsOwn,
	"storage.options.imagestore":            runsOwn,
	"storage.options.additionalimagestores": "and the images of a store here are its own", "storage.options.additionallayerstores": "and the images of a store here are its own",
	"storage.transient_store":               "with which what a killed podman leaves can't be found",
	"storage.options.mount_program":         "which is the level fuse-overlayfs of the factor storage",
	"storage.options.overlay.mount_program": "which is the level fuse-overlayfs of the factor storage",
}

// storageVariable names the file to podman.
const storageVariable = "CONTAINERS_STORAGE_CONF="

// general are the options that any driver may have, in the table of all.
var general = []string{"size", "skip_mount_home", "ignore_chown_errors", "force_mask", "mountopt", "use_composefs"}

// drivers are those that have a table of their own in a storage.conf.
var drivers = []string{"aufs", "btrfs", "overlay", "thinpool", "vfs", "zfs"}

// ofConf tells the names of stores with a storage.conf apart.
func (p *program) ofConf() string {
	if p.conf == "" {
		return ""
	}
	return "-" + p.conf
}

// podmans is the store's driver by podman's own word.
func (s store) podmans() string {
	if s.driver == fuseOverlay {
		return overlay
	}
	return s.driver
}

// configureStore has podman read the storage.conf of a build, with a store of ours in it.
func (p *program) configureStore(kit *engine.Kit) error {
	all := p.given.File(storageFile)
	if all == nil || kit.RunID == "" {
		return nil
	}
	is := p.store.podmans()
	for _, d := range drivers {
		if d != is && confile.At(all, "storage", "options", d) != nil {
			return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("the %s has storage.options.%s, and this store's driver is %s", storageFile, d, is)}
		}
	}
	table, _ := all["storage"].(map[string]any)
	table = maps.Clone(table)
	if table == nil {
		table = map[string]any{}
	}
	table["driver"], table["graphroot"], table["runroot"] = is, p.store.root, p.store.run
	all = maps.Clone(all)
	all["storage"] = table
	path, err := p.write(kit, storageFile, "-"+p.store.driver+"-"+p.who(), all)
	if err != nil {
		return err
	}
	p.env = append(slices.Clip(p.env), storageVariable+path)
	return nil
}

// storeOptions are those of the driver in a build's storage.conf. Podman forgets them
// where it is given a store by its options, which it has to be: of an ordinary user's
// podman, the file does not move the store.
func (p *program) storeOptions() (out []string) {
	all := p.given.File(storageFile)
	is := p.store.podmans()
	options, _ := confile.At(all, "storage", "options").(map[string]any)
	own, _ := confile.At(all, "storage", "options", is).(map[string]any)
	add := func(key string, value any) {
		if n, ok := value.(int64); ok && key == "force_mask" {
			value = fmt.Sprintf("%o", n)
		}
		out = append(out, fmt.Sprintf("%s.%s=%v", is, key, value))
	}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if slices.Contains(general, key) && own[key] == nil {
			add(key, options[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		add(key, own[key])
	}
	return out
}

// optioned says which option of a build's storage.conf podman's store does not have.
func (p *program) optioned(i *info) error {
	for _, o := range p.storeOptions() {
		key, value, _ := strings.Cut(o, "=")
		if is := fmt.Sprint(i.Store.GraphOptions[key]); is != value {
			return &engine.Error{Class: record.WrongComponent, Text: fmt.Sprintf("podman's store has %s=%s, and its %s has %s", key, is, storageFile, value)}
		}
	}
	return nil
}

// configuredBy is how it is known that the files of a build are in effect.
func (p *program) configuredBy() string {
	if p.conf == "" {
		return configuredBy
	}
	return configuredBy + "; " + storedBy
}

// confOf are the digits of a store's storage.conf by a name of the store, which has them
// behind the name that it would have without; none where it is that name.
func confOf(name, without, between string) (digits string, ok bool) {
	digits, ok = strings.CutPrefix(name, without)
	if digits == "" {
		return "", ok
	}
	digits, parted := strings.CutPrefix(digits, between)
	return digits, ok && parted && len(digits) == confDigits && strings.Trim(digits, "0123456789abcdef") == ""
}
