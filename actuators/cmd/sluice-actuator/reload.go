package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"time"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/status"
)

// lookAgain is how often the configuration file is read. A mounted ConfigMap changes by the swap of a link, without a signal.
const lookAgain = 10 * time.Second

// reloader reads the configuration file again, and takes its targets. The other sections count from the next start.
type reloader struct {
	options options
	// started is the configuration that the process began with, current the newest one that it took.
	started, current *config.Config
	// digest is that of the content read last, versions the address of each target that changed since the start.
	digest   [sha256.Size]byte
	versions map[string]string

	place  func([]pools.Target)
	watch  func(service string)
	count  func(status.Reload)
	change chan<- pools.Change
	log    *slog.Logger
}

// run reloads after each hangup, and when the content of the file has changed, until ctx ends. The content that the process
// began with was read before: digest.
func (r *reloader) run(ctx context.Context, hangup <-chan os.Signal) {
	looks := time.NewTicker(lookAgain)
	defer looks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		case <-looks.C:
			if digestOf(r.options.config) == r.digest {
				continue
			}
		}
		r.digest = digestOf(r.options.config)
		outcome, err := r.reload(ctx)
		if err != nil {
			r.log.Error("reload kept the old configuration", "error", err)
		}
		r.count(outcome)
	}
}

// reload takes the file as a whole, or nothing of it.
func (r *reloader) reload(ctx context.Context) (status.Reload, error) {
	c, err := config.Load(r.options.config, os.LookupEnv)
	if err == nil {
		err = c.OptIn(r.options.apply)
	}
	if err != nil {
		return status.Refused, err
	}
	targets, err := openAll(c.Targets)
	if err != nil {
		return status.Refused, err
	}
	versions := r.newVersions(c)
	for i := range targets {
		targets[i].Address = versions[targets[i].Name]
	}
	r.place(targets)
	r.watch(onlyService(c))
	select {
	case <-ctx.Done():
		return status.Refused, errors.New("the process stops")
	case r.change <- pools.Change{Targets: targets}:
	}
	r.current, r.versions = c, versions
	r.log.Info("reloaded the configuration", "file", r.options.config, "targets", len(targets), "opted_in", optedIn(c))
	if others := otherSections(r.started, c); len(others) > 0 {
		r.log.Warn("sections other than targets changed: they count from the next start", "sections", others)
		return status.Partly, nil
	}
	return status.Taken, nil
}

// newVersions gives each target whose block changed another version.
func (r *reloader) newVersions(c *config.Config) map[string]string {
	before, versions := blocks(r.current), map[string]string{}
	for name, block := range blocks(c) {
		versions[name] = r.versions[name]
		if old, there := before[name]; there && !reflect.DeepEqual(old, block) {
			versions[name] = fmt.Sprintf("configured at %d", time.Now().UnixNano())
		}
	}
	return versions
}

// blocks are the targets of a legal file as written, by name.
func blocks(c *config.Config) map[string]any {
	list, _ := c.Document["targets"].([]any)
	named := map[string]any{}
	for i, t := range c.Targets {
		named[t.Name] = list[i]
	}
	return named
}

// otherSections names the keys, besides targets, whose values differ.
func otherSections(a, b *config.Config) (keys []string) {
	all := maps.Clone(a.Document)
	maps.Copy(all, b.Document)
	for key := range all {
		if key != "targets" && !reflect.DeepEqual(a.Document[key], b.Document[key]) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// digestOf is zero for a file that cannot be read.
func digestOf(path string) [sha256.Size]byte {
	content, err := os.ReadFile(path)
	if err != nil {
		return [sha256.Size]byte{}
	}
	return sha256.Sum256(content)
}
