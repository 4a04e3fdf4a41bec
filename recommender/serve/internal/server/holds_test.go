package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/serve/internal/logtest"

	poolsv1 "sluice.dev/api/pools/v1"
)

type holdAsk = poolsv1.HoldTargetsRequest

// knows waits until a server says who has which target.
func (r *running) knows(t *testing.T) *running {
	t.Helper()
	eventually(t, "it is known who has which target", func() bool { return r.holds.Problem() == "" })
	return r
}

// holders are who has each target of a call: "a", or "not b" where the call was refused it.
func (r *running) holders(t *testing.T, ask *holdAsk) string {
	t.Helper()
	if ask.Lease == nil {
		ask.Lease = durationpb.New(time.Minute)
	}
	response, err := r.client.HoldTargets(t.Context(), ask)
	must(t, err)
	var words []string
	for i, hold := range response.GetHolds() {
		word := "not " + hold.GetHolder()
		if hold.GetGranted() {
			word = hold.GetHolder()
		}
		left := hold.GetLeft().AsDuration()
		if hold.GetTarget() != ask.GetTargets()[i] || left <= 0 || left > time.Minute {
			t.Errorf("%v in place %d", hold, i)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

func TestOneOfTwoHasATargetWhicheverServerIsAsked(t *testing.T) {
	log := logtest.New(t, 2)
	one, two := start(t, log, options{}).knows(t), start(t, log, options{}).knows(t)
	for _, step := range []struct {
		at   *running
		ask  *holdAsk
		want string
	}{
		{one, &holdAsk{Holder: "a", Targets: []string{"x", "y"}}, "a, a"},
		{two, &holdAsk{Holder: "b", Targets: []string{"x", "z"}}, "not a, b"},
		{two, &holdAsk{Holder: "a", Targets: []string{"y", "x"}}, "a, a"},
		{one, &holdAsk{Holder: "b", Targets: []string{"z", "y"}, Releases: []string{"x"}}, "b, not a"}, // x is not b's
		{one, &holdAsk{Holder: "a", Releases: []string{"x"}}, ""},
		{two, &holdAsk{Holder: "b", Targets: []string{"x"}}, "b"},
	} {
		if got := step.at.holders(t, step.ask); got != step.want {
			t.Errorf("%v: %q, want %q", step.ask, got, step.want)
		}
	}
	two.stop()
	later := start(t, log, options{}).knows(t) // it has all of it from the log
	if got := later.holders(t, &holdAsk{Holder: "c", Targets: []string{"x", "y", "z", "new"}}); got != "not b, not a, not b, c" {
		t.Errorf("a server that began later says %q", got)
	}
	if counts := later.holds.Counts(); counts.Held != 4 || counts.Granted != 1 || counts.Refused != 3 || counts.LeftOut != 0 {
		t.Errorf("%+v", counts)
	}
}

func TestManyAtOnceAndOneHasEach(t *testing.T) {
	log := logtest.New(t, 1)
	servers := []*running{start(t, log, options{}).knows(t), start(t, log, options{}).knows(t)}
	targets := []string{"0", "1", "2", "3"}
	var mu sync.Mutex
	owners := map[string][]string{}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			me := fmt.Sprint("actuator ", i)
			response, err := servers[i%2].client.HoldTargets(t.Context(), &holdAsk{Holder: me, Targets: targets, Lease: durationpb.New(time.Minute)})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			for _, hold := range response.GetHolds() {
				if hold.GetGranted() {
					owners[hold.GetTarget()] = append(owners[hold.GetTarget()], me)
				}
			}
		})
	}
	all.Wait()
	for _, target := range targets {
		if len(owners[target]) != 1 || owners[target][0] != owners["0"][0] {
			t.Errorf("%s is of %v", target, owners[target])
		}
	}
}

func TestAHoldEndsByTheTimeOfTheLog(t *testing.T) {
	r := start(t, logtest.New(t, 1), options{}).knows(t)
	least := durationpb.New(5 * time.Second)
	if got := r.holders(t, &holdAsk{Holder: "a", Targets: []string{"x"}, Lease: least}); got != "a" {
		t.Fatal(got)
	}
	began := time.Now()
	eventually(t, "the hold ends", func() bool { return r.holders(t, &holdAsk{Holder: "b", Targets: []string{"x"}}) == "b" })
	if took := time.Since(began); took < 4*time.Second {
		t.Errorf("it ended after %s", took)
	}
}

func TestRecordsOfHoldsThatCannotBeUsedAreLeftOut(t *testing.T) {
	log := logtest.New(t, 1)
	r := start(t, log, options{}).knows(t)
	r.holders(t, &holdAsk{Holder: "a", Targets: []string{"x"}})
	log.Write(t, log.Holds, "a", []byte("no record"))
	log.Write(t, log.Holds, "b", log.Read(t, log.Holds)[0].Value) // a's, under another's key
	if got := r.holders(t, &holdAsk{Holder: "b", Targets: []string{"x"}}); got != "not a" {
		t.Error(got)
	}
	if counts := r.holds.Counts(); counts.LeftOut != 2 {
		t.Errorf("%+v", counts)
	}
}

func TestWhatIsNotLegalInAClaim(t *testing.T) {
	r := start(t, logtest.New(t, 1), options{}).knows(t)
	many := make([]string, 501)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for field, ask := range map[string]*holdAsk{
		"holder: empty":            {Targets: []string{"x"}},
		"holder: at most":          {Holder: strings.Repeat("a", 513), Targets: []string{"x"}},
		"targets: 1 to 500":        {Holder: "a"},
		"targets: 1 to 500 of 501": {Holder: "a", Targets: many},
		"targets: 1 to 400 bytes":  {Holder: "a", Targets: []string{""}},
		"targets: at most 400":     {Holder: "a", Targets: []string{strings.Repeat("x", 401)}},
		"targets: once":            {Holder: "a", Targets: []string{"x", "x"}},
		"lease: 5s to 5m":          {Holder: "a", Targets: []string{"x"}, Lease: durationpb.New(time.Second)},
		"lease: 5s to 5m of 1 h":   {Holder: "a", Targets: []string{"x"}, Lease: durationpb.New(time.Hour)},
		"lease: 5s to 5m absent":   {Holder: "a", Targets: []string{"x"}},
	} {
		name, _, _ := strings.Cut(field, ":")
		if ask.Lease == nil && !strings.HasSuffix(field, "absent") {
			ask.Lease = durationpb.New(time.Minute)
		}
		_, err := r.client.HoldTargets(t.Context(), ask)
		if got := refused(t, err, codes.InvalidArgument); !strings.HasPrefix(got.Message(), name) || !strings.Contains(got.Message(), "legal: ") {
			t.Errorf("%s: %s", field, got.Message())
		}
	}
}

func TestWithoutItsTopicNobodyKnowsWhoHasATarget(t *testing.T) {
	log := logtest.New(t, 1)
	log.Decider(t, 0).Publish(logtest.Apply(cart, 1, 8))
	log.Log.Holds += "_not_there"
	r := start(t, log, options{}).ready(t) // all else goes on
	eventually(t, "it is said why", func() bool { return strings.Contains(r.holds.Problem(), "collector/topics.yaml") })
	_, err := r.client.HoldTargets(t.Context(), &holdAsk{Holder: "a", Targets: []string{"x"}, Lease: durationpb.New(time.Minute)})
	if got := refused(t, err, codes.Unavailable); !strings.Contains(got.Message(), "collector/topics.yaml") {
		t.Error(got.Message())
	}
}

func TestHoldingTakesTheRoleOfReports(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	must(t, os.WriteFile(file, []byte(readToken+" viewer read\n"+reportToken+" one report\n"+oldToken+" two report\n"), 0o600))
	r := start(t, logtest.New(t, 1), options{lookup: func(name string) string { return map[string]string{"SLUICE_TOKENS": file}[name] }}).knows(t)
	hold := func(token string, ask *holdAsk) (*poolsv1.HoldTargetsResponse, error) {
		ask.Lease = durationpb.New(time.Minute)
		return r.client.HoldTargets(with(token), ask)
	}
	_, err := hold(readToken, &holdAsk{Holder: "a", Targets: []string{"x"}})
	refused(t, err, codes.PermissionDenied)
	_, err = hold(reportToken, &holdAsk{Holder: "a", Targets: []string{"x"}})
	must(t, err)
	_, err = hold(oldToken, &holdAsk{Holder: "a", Releases: []string{"x"}}) // it calls itself what another is called
	must(t, err)
	response, err := hold(oldToken, &holdAsk{Holder: "a", Targets: []string{"x"}})
	must(t, err)
	if got := response.GetHolds()[0]; got.GetGranted() || got.GetBy() != "one" {
		t.Errorf("%v", got)
	}
}
