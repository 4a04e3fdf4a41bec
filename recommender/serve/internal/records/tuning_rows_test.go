package records

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"

	tuningv1 "sluice.dev/api/tuning/v1"
)

func TestTrialsHaveTheirTable(t *testing.T) {
	journal := journaltest.New(t, 1)
	at := func(s int64) *timestamppb.Timestamp { return timestamppb.New(time.Unix(1_800_000_000+s, 0)) }
	number := func(n float64) *float64 { return &n }
	place := uint32(0)
	settings := []*tuningv1.Configuration_Setting{
		{Parameter: "threads", Value: &tuningv1.Value{Kind: &tuningv1.Value_Integer{Integer: -8}}},
		{Parameter: "memory_mb", Value: &tuningv1.Value{Kind: &tuningv1.Value_Number{Number: 0.25}}},
		{Parameter: "model", Value: &tuningv1.Value{Kind: &tuningv1.Value_Choice{Choice: "adaptive"}}},
		{Parameter: "sync", Value: &tuningv1.Value{Kind: &tuningv1.Value_Flag{Flag: true}}},
	}
	flying := &tuningv1.Trial{
		Purpose: tuningv1.Purpose_PURPOSE_SEARCH, Configuration: &tuningv1.Configuration{Settings: settings}, AskedAt: at(0), DueAt: at(600),
	}
	told := &tuningv1.Trial{
		Number: 1, Purpose: tuningv1.Purpose_PURPOSE_WINNER, Confirms: &place, AskedAt: at(1), AppliedAt: at(2), ToldAt: at(40), DueAt: at(601),
		Place: &place, Outcome: &tuningv1.Outcome{
			Verdict: tuningv1.Verdict_VERDICT_UNSAFE, Value: number(12.5), Lower: number(11), Upper: number(14), Excess: 0.2, Why: "600 of 500",
		},
	}
	trialKey := func(number int64) string { return keys.Tuning{Session: "a/b", Trial: number}.Record() }
	decider := journal.Decider(t, 0)
	decider.Begin()
	decider.Put(journal.Decisions, keys.SessionKey("a/b").Record(), &tuningv1.SessionRecord{Session: "a/b"})
	for n, trial := range []*tuningv1.Trial{flying, told} {
		decider.Put(journal.Decisions, trialKey(int64(n)), &tuningv1.SessionRecord{
			Session: "a/b", Record: &tuningv1.SessionRecord_Trial{Trial: trial},
		})
	}
	decider.Put(journal.Decisions, trialKey(2), &tuningv1.SessionRecord{Session: "a/b", Record: &tuningv1.SessionRecord_Trial{Trial: told}})
	decider.PutBytes(journal.Decisions, trialKey(3), []byte{0xff})
	decider.Put(journal.Decisions, trialKey(0), nil)
	decider.Heartbeat()
	decider.End(true)
	d := &tables{}
	run(t, journal, d)
	eventually(t, "the rows", func() bool { return len(d.column("tuning_trials", "number")) == 2 })
	for column, want := range map[string]string{
		"session": "[a/b a/b]", "number": "[0 1]", "purpose": "[SEARCH WINNER]", "verdict": "[<nil> UNSAFE]", "why": "[<nil> 600 of 500]",
		"asked_at": "[1800000000.000 1800000001.000]", "applied_at": "[<nil> 1800000002.000]", "told_at": "[<nil> 1800000040.000]",
		"due_at": "[1800000600.000 1800000601.000]", "excess": "[<nil> 0.2]",
		"parameters": "[map[memory_mb:0.25 model:adaptive sync:true threads:-8] map[]]",
	} {
		if got := fmt.Sprint(d.column("tuning_trials", column)); got != want {
			t.Errorf("%s: %v, want %s", column, got, want)
		}
	}
	for column, want := range map[string]float64{"value": 12.5, "lower": 11, "upper": 14} {
		if got := d.column("tuning_trials", column)[1]; *got.(*float64) != want {
			t.Errorf("%s: %v, want %v", column, got, want)
		}
	}
	for _, column := range []string{"confirms", "place"} {
		if got := d.column("tuning_trials", column); got[0].(*uint32) != nil || *got[1].(*uint32) != 0 {
			t.Errorf("%s: %v", column, got)
		}
	}
	if n := len(d.column("recommendations", "at")); n != 0 {
		t.Errorf("%d rows of pools", n)
	}
}
