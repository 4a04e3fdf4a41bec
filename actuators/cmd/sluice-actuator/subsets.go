package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/reconcile"
	"sluice.dev/actuators/internal/subsets"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// callers are the connection subsets that this process writes.
type callers struct {
	client   subsetsv1.SubsetServiceClient
	timeout  time.Duration
	loop     *subsets.Loop
	reporter *subsets.Reporter
	targets  []subsets.Target
	// watchers has one watcher for each calling container.
	watchers map[[2]string]*subsets.Watcher
}

// openSubsets makes the realizers; it starts no watch.
func openSubsets(c *config.Config, client subsetsv1.SubsetServiceClient, log *slog.Logger) (*callers, error) {
	reporter := reconcile.NewReporter(client.ReportDelivery, c.Reports.Queue, c.Recommender.Timeout, log)
	all := &callers{
		client: client, timeout: c.Recommender.Timeout, reporter: reporter, watchers: map[[2]string]*subsets.Watcher{},
		loop: &subsets.Loop{Interval: c.Recommender.Interval, Grace: c.ShutdownGrace, Actuator: c.Name, Reporter: reporter, Log: log},
	}
	for _, s := range c.Subsets {
		realizer, err := s.Block.Open(s.Name)
		if err != nil {
			return nil, fmt.Errorf("open subset %s: %w", s.Name, err)
		}
		caller := [2]string{s.Upstream, s.Instance}
		if all.watchers[caller] == nil {
			all.watchers[caller] = subsets.NewWatcher(client, s.Upstream, s.Instance, log)
		}
		all.targets = append(all.targets, subsets.Target{
			Name: s.Name, Realizer: realizer, Settle: s.Settle, RemoveOnExit: s.RemoveOnExit, Latest: all.watchers[caller].Latest,
			Key:   &subsetsv1.SubsetKey{Upstream: s.Upstream, Instance: s.Instance, Downstream: s.Downstream},
			Rules: subsets.Rules{Apply: s.Apply, Min: int(s.Min), Within: s.Networks(), Cooldown: s.Cooldown},
		})
	}
	return all, nil
}

// run works until ctx ends, then sends the queued reports.
func (c *callers) run(ctx context.Context) {
	if len(c.targets) == 0 {
		return
	}
	var around sync.WaitGroup
	for _, watcher := range c.watchers {
		around.Go(func() { watcher.Run(ctx) })
	}
	around.Go(func() { c.reporter.Run(ctx) })
	c.loop.Run(ctx, c.targets)
	around.Wait()
	flush(context.WithoutCancel(ctx), c.reporter, flushTime)
}

// once makes one pass over each subset.
func (c *callers) once(ctx context.Context) error {
	failed := 0
	for _, target := range c.targets {
		answer, err := subsets.Get(ctx, c.client, target.Key, c.timeout)
		if err != nil {
			return fmt.Errorf("get the subset of %s: %w", target.Name, err)
		}
		if _, err := c.loop.Once(ctx, target, answer); err != nil {
			failed++
		}
	}
	flush(ctx, c.reporter, flushOnceTime)
	if waiting := c.reporter.Stats().Queued; waiting > 0 {
		return fmt.Errorf("report to the recommender: %d reports of subsets are not taken", waiting)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d subsets could not be read, or failed or were refused", failed, len(c.targets))
	}
	return nil
}

// dryRun prints, for each subset, the members in force and a line for each member that would differ.
func (c *callers) dryRun(ctx context.Context, out io.Writer) error {
	unread := 0
	for _, target := range c.targets {
		answer, err := subsets.Get(ctx, c.client, target.Key, c.timeout)
		if err != nil {
			return fmt.Errorf("get the subset of %s: %w", target.Name, err)
		}
		inForce, decision, err := c.loop.DryRun(ctx, target, answer)
		opted := "not opted in"
		if target.Rules.Apply {
			opted = "opted in"
		}
		fmt.Fprintf(out, "\nsubset %s (%s): %s\n", target.Name, opted, inForce)
		switch {
		case err != nil:
			unread++
			fmt.Fprintf(out, "  ?  %v\n", err)
		case decision.Action == subsets.Write:
			fmt.Fprintf(out, "  %s\n", strings.Join(inForce.Difference(decision.Set), "\n  "))
		case decision.Action == subsets.Refuse:
			fmt.Fprintf(out, "  would refuse: %s\n", decision.Text)
		default:
			fmt.Fprintf(out, "  stays: %s\n", decision.Text)
		}
	}
	if unread > 0 {
		return fmt.Errorf("%d of %d subsets could not be read", unread, len(c.targets))
	}
	return nil
}

// restore removes the named subsets and returns the remaining names, which are targets'.
func (c *callers) restore(ctx context.Context, names []string, out io.Writer) (left []string, err error) {
	all := slices.Contains(names, config.AllTargets)
	left = slices.Clone(names)
	for _, target := range c.targets {
		if !all && !slices.Contains(names, target.Name) {
			continue
		}
		left = slices.DeleteFunc(left, func(name string) bool { return name == target.Name })
		if removeErr := c.loop.Remove(ctx, target); removeErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: not removed: %w", target.Name, removeErr))
		} else {
			fmt.Fprintf(out, "%s: removed\n", target.Name)
		}
	}
	return left, err
}
