package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/status"
	"sluice.dev/actuators/internal/tests/files"
	"sluice.dev/actuators/internal/tests/recommendertest"
)

const connections = `  - name: catalogue.connections
    pool: {service: catalogue, side: client, peer: catalogue-db}
    apply: true
    min: 1
    max: 64
    settle: 0s
    http:
      read: {url: "${SLUICE_DEMO}/pools/catalogue.connections"}
      write: {url: "${SLUICE_DEMO}/pools/catalogue.connections"}
`

// reload sends SIGHUP and waits until the count of the outcome is n.
func (p *process) reload(t *testing.T, outcome status.Reload, n int) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	eventually(t, fmt.Sprintf("%s %d times", outcome, n), func() bool {
		_, text := p.get("/metrics")
		return strings.Contains(text, fmt.Sprintf("sluice_actuator_reloads_total{outcome=%q} %d\n", outcome, n))
	})
}

func TestReload(t *testing.T) {
	r := recommendertest.Start(t)
	r.Recommend(cartThreads, 32, 7)
	r.Recommend(catalogueConnections, 6, 3)
	shop, url := startShop(t)
	file, _ := kept(t, "restore_on_exit: true")
	first := files.Read(t, file)
	p := with(command(t, r, url), file)
	p.start(t)
	eventually(t, "cart's size", func() bool { return shop.size("cart.threads") == 32 })

	// A new target of another service begins. The changed one keeps its state: it wrote a moment ago.
	changed := strings.Replace(first, "max: 128", "max: 127", 1)
	files.Write(t, file, changed+connections)
	p.reload(t, status.Taken, 1)
	eventually(t, "the new target's size", func() bool { return shop.size("catalogue.connections") == 6 })
	r.Recommend(cartThreads, 40, 8)
	eventually(t, "the cooldown", func() bool {
		_, text := p.get("/status")
		return strings.Contains(text, `"code": "cooling_down"`)
	})

	// A bad file is refused as a whole, although one of its targets is legal.
	files.Write(t, file, strings.Replace(changed, "min: 2", "min: 0", 1))
	p.reload(t, status.Refused, 1)
	if _, text := p.get("/status"); !strings.Contains(text, "catalogue.connections") {
		t.Errorf("a target of the old file is gone:\n%s", text)
	}
	if _, text := p.get("/metrics"); !strings.Contains(text, "sluice_actuator_configuration_refused 1\n") {
		t.Error("the refusal is not shown")
	}

	// A target that is gone ends as it is, also where it would be restored at the end of the process.
	files.Write(t, file, strings.Replace(changed, "interval: 100ms", "interval: 200ms", 1)[:strings.Index(changed, "targets:")]+"targets:\n"+connections)
	p.reload(t, status.Partly, 1)
	eventually(t, "the target's end", func() bool {
		_, text := p.get("/status")
		return !strings.Contains(text, "cart.threads")
	})
	if _, text := p.get("/metrics"); !strings.Contains(text, "sluice_actuator_configuration_refused 0\n") {
		t.Error("the refusal is still shown")
	}
	files.Write(t, file, first[:strings.Index(first, "targets:")]+"targets: []\n")
	p.reload(t, status.Taken, 2)
	p.stop(t)
	if got := shop.written(); got != "[cart.threads=32 catalogue.connections=6]" {
		t.Errorf("wrote %s", got)
	}
	for _, words := range []string{"targets[0].min: 0: want 1 to 65535", `sections=[recommender]`} {
		if !strings.Contains(p.errs.String(), words) {
			t.Errorf("no %q in the log:\n%s", words, &p.errs)
		}
	}
}

func TestTheSameFileHasNoOtherSections(t *testing.T) {
	var read [2]*config.Config
	for i := range read {
		var err error
		if read[i], err = config.Load("../../internal/config/testdata/declared.yaml", os.LookupEnv); err != nil {
			t.Fatal(err)
		}
	}
	if others := otherSections(read[0], read[1]); len(others) > 0 {
		t.Error(others)
	}
	read[1].Document["name"], read[1].Document["targets"] = "other", []any{}
	delete(read[1].Document, "kubernetes")
	if others := fmt.Sprint(otherSections(read[0], read[1])); others != "[kubernetes name]" {
		t.Error(others)
	}
}

func TestAChangedContentNeedsNoSignal(t *testing.T) {
	t.Setenv("SLUICE_DEMO", "http://127.0.0.1:1")
	file := filepath.Join(t.TempDir(), "actuator.yaml")
	files.Write(t, file, "targets: []\n")
	started, err := config.Load(file, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		changes, service, outcomes := make(chan pools.Change, 9), "", []status.Reload{}
		r := &reloader{
			options: options{config: file, apply: []string{"all"}}, started: started, current: started, digest: started.Digest,
			place: func([]pools.Target) {}, watch: func(only string) { service = only },
			count:  func(outcome status.Reload) { outcomes = append(outcomes, outcome) },
			change: changes, log: slog.New(slog.DiscardHandler),
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go r.run(ctx, nil)
		look := func(text string) {
			t.Helper()
			files.Write(t, file, text)
			time.Sleep(lookAgain)
			synctest.Wait()
		}
		look("targets: []\n")
		look("targets:\n" + connections)
		look("targets:\n" + connections)
		look("# a comment changes no target\ntargets:\n" + connections)
		look("targets: [")
		look("targets: [")
		look("targets:\n" + strings.Replace(connections, "max: 64", "max: 65", 1))
		if got := fmt.Sprint(outcomes, " ", service, " ", len(changes)); got != "[taken taken refused taken] catalogue 3" {
			t.Fatal(got)
		}
		one, same, two := (<-changes).Targets[0], (<-changes).Targets[0], (<-changes).Targets[0]
		if one.Address != "" || same.Address != "" || two.Address == "" || !two.Rules.Apply || two.Rules.Max != 65 {
			t.Errorf("%+v then %+v", one, two)
		}
	})
}
