package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"text/tabwriter"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/state"
	"sluice.dev/actuators/internal/pools/watch"
)

// durable is the state that outlives the process, in the configured folder if there is one.
type durable struct {
	*state.Book
	close func()
}

// openBook opens the state. With look it reads a copy and takes no lock, so that a dry run disturbs no running actuator.
func openBook(folder string, look bool, targets []pools.Target) (*durable, error) {
	nothing := func() {}
	switch {
	case folder == "":
		return &durable{state.NewBook(&state.Memory{}), nothing}, nil
	case look:
		names := make([]string, len(targets))
		for i, t := range targets {
			names[i] = t.Name
		}
		copied, err := state.Copy(folder, names)
		return &durable{state.NewBook(copied), nothing}, err
	}
	store, err := state.OpenFolder(folder)
	if err != nil {
		return nil, err
	}
	return &durable{state.NewBook(store), func() { store.Close() }}, nil
}

// killSwitch is on while something exists at path, and also when the path cannot be checked.
func killSwitch(path string) func() bool {
	if path == "" {
		return nil
	}
	return func() bool {
		_, err := os.Lstat(path)
		return !errors.Is(err, fs.ErrNotExist)
	}
}

// dryRun prints, for each target, the size in force, the size that would be written, and the reason.
func dryRun(ctx context.Context, cycle *pools.Loop, targets []pools.Target, source *watch.Watcher, out io.Writer) error {
	if err := source.List(ctx); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TARGET\tNOW\tWOULD BE\tOPTED IN\tWHY")
	unread := 0
	for i, p := range cycle.DryRun(ctx, targets) {
		now, then, why := p.Current.String(), "", p.Decision.Text
		switch {
		case p.ReadErr != nil:
			now, why = "?", p.ReadErr.Error()
			unread++
		case p.Decision.Action == policy.Apply:
			then = fmt.Sprint(p.Decision.Size)
		case p.Decision.Action == policy.Refuse:
			why = "would refuse: " + why
		}
		opted := "no"
		if targets[i].Rules.Apply {
			opted = "yes"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", p.Target, now, then, opted, why)
	}
	table.Flush()
	if unread > 0 {
		return fmt.Errorf("%d of %d targets could not be read", unread, len(targets))
	}
	return nil
}

// restore writes the original sizes of the named targets and prints the result of each.
func restore(ctx context.Context, cycle *pools.Loop, targets []pools.Target, names []string, reporter *pools.Reporter, out io.Writer) error {
	if !slices.Contains(names, config.AllTargets) {
		for _, name := range names {
			if !slices.ContainsFunc(targets, func(t pools.Target) bool { return t.Name == name }) {
				return fmt.Errorf("restore %q: not configured, or not found; want %s or the name of a target", name, config.AllTargets)
			}
		}
		targets = slices.DeleteFunc(targets, func(t pools.Target) bool { return !slices.Contains(names, t.Name) })
	}
	failed := 0
	ended := cycle.Restore(ctx, targets)
	for _, name := range slices.Sorted(maps.Keys(ended)) {
		if err := ended[name]; err != nil {
			failed++
			fmt.Fprintf(out, "%s: not restored: %v\n", name, err)
		} else {
			fmt.Fprintf(out, "%s: restored\n", name)
		}
	}
	if len(ended) == 0 {
		fmt.Fprintln(out, "nothing to restore: the state has no original size")
	}
	flush(ctx, reporter, flushTime) // the state keeps a report that is not taken; the next process sends it
	if failed > 0 {
		return fmt.Errorf("%d of %d targets are not restored", failed, len(ended))
	}
	return nil
}
