package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/dial"
	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/watch"
	"sluice.dev/actuators/internal/reconcile"
	"sluice.dev/actuators/internal/status"
	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Bounds of the last sending of reports: at the end of the process, and after a single pass.
const (
	flushTime     = 3 * time.Second
	flushOnceTime = 10 * time.Second
)

// act connects all parts of the actuator and runs them until SIGTERM, or for one pass.
func act(c *config.Config, o options, out, logs io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	log := slog.New(slog.NewTextHandler(logs, nil))
	memory := limitMemory()

	connection, err := dial.Open(c.Recommender.Address, os.LookupEnv)
	if err != nil {
		return err
	}
	defer connection.Close()
	client := poolsv1.NewPoolSizeServiceClient(connection)
	targets, err := openAll(c.Targets)
	if err != nil {
		return err
	}
	watching, unwatch := context.WithCancel(context.WithoutCancel(ctx)) // the process gives up its leases after the last write
	defer unwatch()
	around, err := openCluster(watching, c, log)
	if err != nil {
		return err
	}
	around.place(targets)
	callers, err := openSubsets(c, subsetsv1.NewSubsetServiceClient(connection), log)
	if err != nil {
		return err
	}
	watcher := watch.NewWatcher(client, onlyService(c), c.Recommender.Timeout, log)
	observers, err := observe(c, around, client, log)
	if err != nil {
		return err
	}
	members := openMembers(c, around, client, log)
	reporter := reconcile.NewReporter(client.ReportActuation, c.Reports.Queue, c.Recommender.Timeout, log)
	board := status.NewBoard(
		status.Process{Name: c.Name, Version: buildVersion(), StartedAt: time.Now(), Recommender: c.Recommender.Address},
		targets, watcher.Latest, reporter.Stats, scalingStats(observers))
	board.Subsets, board.Containers = callers.loop.Shown, members.stats
	if around.Cluster != nil {
		board.Refusals = around.Refusals
	}
	around.show(watcher)
	cycle := &pools.Loop{
		Actuator: c.Name, Interval: c.Recommender.Interval, Grace: c.ShutdownGrace,
		Source: watcher, Reporter: reporter, Recorder: around.recorder(board), Log: log, Holder: around.holder, Identity: around.identity,
	}
	if o.once || o.dryRun || len(o.restore) > 0 {
		discovered, err := lookUpOnce(ctx, c, around.Cluster)
		if err != nil {
			return err
		}
		targets = append(targets, discovered...)
	}
	book, err := openBook(c.State, o.dryRun, targets)
	if err != nil {
		return err
	}
	defer book.close()
	cycle.Book, cycle.Stopped = book.Book, killSwitch(c.KillSwitch)
	callers.loop.Stopped = cycle.Stopped
	if !o.dryRun {
		cycle.Owner = around.owner(c)
		around.own(callers)
		defer func() {
			last, cancel := context.WithTimeout(watching, flushTime)
			defer cancel()
			around.release(last)
		}()
	}
	switch {
	case o.dryRun:
		return errors.Join(dryRun(ctx, cycle, targets, watcher, out), callers.dryRun(ctx, out))
	case len(o.restore) > 0:
		names, err := callers.restore(ctx, o.restore, out)
		if err != nil || len(names) == 0 {
			return err
		}
		if err := watcher.List(ctx); err != nil {
			log.Warn("cannot ask the recommender who owns the targets", "error", err)
		}
		return restore(ctx, cycle, targets, names, reporter, out)
	case o.once:
		return errors.Join(onePass(ctx, cycle, targets, watcher, reporter), callers.once(ctx))
	}

	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	stopPages, err := board.Serve(ctx, c.StatusAddress)
	if err != nil {
		return err
	}
	defer stopPages()
	log.Info("started", "name", c.Name, "version", buildVersion(), "recommender", c.Recommender.Address,
		"status", "http://"+c.StatusAddress+"/status", "targets", len(targets), "subsets", len(c.Subsets), "containers", len(c.Containers), "opted_in", optedIn(c), "memory_limit", memory)
	var beside, subsetsBeside sync.WaitGroup // each flushes its own reports, at the same time
	subsetsBeside.Go(func() { callers.run(ctx) })
	beside.Go(func() { watcher.Run(ctx) })
	for _, observer := range observers {
		beside.Go(func() { observer.Run(ctx) })
	}
	beside.Go(func() { members.run(ctx, connection) })
	beside.Go(func() { reporter.Run(ctx) })
	if around.soft != nil {
		beside.Go(func() { around.soft.Run(ctx) })
	}
	changes := follow(ctx, c, around.Cluster, log)
	reloads := &reloader{
		options: o, started: c, current: c, digest: c.Digest,
		place: around.place, watch: watcher.Select, count: board.Reloaded, change: changes, log: log,
	}
	beside.Go(func() { reloads.run(ctx, hangup) })
	cycle.Run(ctx, targets, changes)
	beside.Wait()
	flush(context.WithoutCancel(ctx), reporter, flushTime)
	subsetsBeside.Wait()
	log.Info("stopped", "reports_left", reporter.Stats().Queued)
	return nil
}

// flush sends the queued reports, for a time at most.
func flush(ctx context.Context, reports interface{ Flush(context.Context) }, lasts time.Duration) {
	last, cancel := context.WithTimeout(ctx, lasts)
	defer cancel()
	reports.Flush(last)
}

// onePass makes one pass over each target with the newest decisions.
func onePass(ctx context.Context, cycle *pools.Loop, targets []pools.Target, source *watch.Watcher, reporter *pools.Reporter) error {
	if err := source.List(ctx); err != nil {
		return err
	}
	failed := 0
	for _, p := range cycle.Once(ctx, targets) {
		if p.Failed() {
			failed++
		}
	}
	flush(ctx, reporter, flushOnceTime)
	if stats := reporter.Stats(); stats.Queued+int(stats.Rejected+stats.Dropped) > 0 {
		return fmt.Errorf("report to the recommender: %d reports sent, %d not taken",
			stats.Sent, stats.Queued+int(stats.Rejected+stats.Dropped))
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d targets could not be read, or their size failed or was refused", failed, len(targets))
	}
	return nil
}
