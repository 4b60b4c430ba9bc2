package cri

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// cniOf names the plug-ins that make a pod's network, in the order in which
// they are called, but for the loopback; nothing where the server does not say.
// containerd brings its networks with a verbose answer, CRI-O the directory in
// which it reads the first.
func cniOf(info map[string]string) []string {
	var of struct {
		Networks []struct {
			Config struct {
				Plugins []struct{ Network struct{ Type string } }
			}
		}
	}
	var all []string
	if json.Unmarshal([]byte(info["cniconfig"]), &of) == nil {
		for _, n := range of.Networks {
			for _, p := range n.Config.Plugins {
				all = append(all, p.Network.Type)
			}
		}
	}
	if len(all) == 0 {
		var config struct {
			Crio struct{ NetworkDir, DefaultNetwork string }
		}
		if json.Unmarshal([]byte(info["config"]), &config) == nil && config.Crio.NetworkDir != "" {
			all = firstNetwork(config.Crio.NetworkDir, config.Crio.DefaultNetwork)
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return name == "loopback" || name == "" })
}

// firstNetwork reads the network of this name in a directory of CNI's
// configurations, by default the first by the files' names.
func firstNetwork(dir, name string) []string {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !slices.Contains([]string{".conf", ".conflist", ".json"}, filepath.Ext(e.Name())) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		var c struct {
			Name, Type string
			Plugins    []struct{ Type string }
		}
		if err != nil || json.Unmarshal(data, &c) != nil || name != "" && c.Name != name {
			continue
		}
		all := []string{c.Type}
		for _, p := range c.Plugins {
			all = append(all, p.Type)
		}
		return all
	}
	return nil
}

// networkBy is the fact of it.
func networkBy(plugins []string) string {
	if len(plugins) == 0 {
		return ""
	}
	return "CNI (" + strings.Join(plugins, ", ") + ")"
}
