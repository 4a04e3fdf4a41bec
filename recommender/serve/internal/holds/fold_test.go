package holds

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	poolsv1 "sluice.dev/api/pools/v1"
)

// second is a time of the log.
func second(n int) time.Time { return time.Unix(1_000_000+int64(n), 0).UTC() }

// call is a record as a server writes it that knows what fold does.
func call(fold *Fold, holder string, lease int, targets ...string) *poolsv1.HoldRecord {
	record := &poolsv1.HoldRecord{
		Id: "1", Holder: holder, Lease: durationpb.New(time.Duration(lease) * time.Second), Position: fold.Position(),
	}
	for _, target := range targets {
		if given, releases := strings.CutPrefix(target, "-"); releases {
			record.Releases = append(record.Releases, fold.View(given))
		} else {
			record.Claims = append(record.Claims, fold.View(target))
		}
	}
	return record
}

// said is what came of claims: "x: a 30s" where it was granted, "x: not, b 12s" where it was not.
func said(all []Claimed) string {
	words := make([]string, len(all))
	for i, each := range all {
		words[i] = fmt.Sprintf("%s: %s %s", each.Target, each.Who.Holder, each.Left)
		if !each.Granted {
			words[i] = fmt.Sprintf("%s: not, %s %s", each.Target, each.Who.Holder, each.Left)
		}
	}
	return strings.Join(words, "; ")
}

func TestATargetIsWhoseClaimCameFirst(t *testing.T) {
	fold := NewFold(0)
	for i, step := range []struct {
		at      int
		holder  string
		lease   int
		targets []string
		want    string
	}{
		{0, "a", 30, []string{"x", "y"}, "x: a 30s; y: a 30s"},
		{1, "b", 30, []string{"x", "z"}, "x: not, a 29s; z: b 30s"},
		{15, "a", 30, []string{"x"}, "x: a 30s"},     // renewed: until 45
		{29, "b", 30, []string{"y"}, "y: not, a 1s"}, // not renewed: until 30
		{30, "b", 30, []string{"y"}, "y: b 30s"},     //
		{31, "a", 30, []string{"x", "y"}, "x: a 30s; y: not, b 29s"},
		{32, "a", 10, []string{"x"}, "x: a 29s"},      // what was told before stays true
		{33, "b", 30, []string{"-x"}, ""},             // not b's to give up
		{34, "b", 30, []string{"x"}, "x: not, a 27s"}, //
		{35, "a", 0, []string{"-x"}, ""},              //
		{36, "b", 30, []string{"x"}, "x: b 30s"},      //
		{20, "a", 30, []string{"x"}, "x: not, b 46s"}, // the broker's clock was set back: b has it longer, never shorter
		{66, "a", 30, []string{"x"}, "x: a 30s"},      //
	} {
		got := said(fold.Take(uint64(i), second(step.at), call(fold, step.holder, step.lease, step.targets...)))
		if got != step.want {
			t.Errorf("at %d %s asks for %v: %q, want %q", step.at, step.holder, step.targets, got, step.want)
		}
	}
	if fold.Held() != 1 || fold.Kept() != 3 || fold.Position() != 13 { // z until 31, y until 60
		t.Errorf("%d of %d held, at %d", fold.Held(), fold.Kept(), fold.Position())
	}
}

func TestANameIsTheCallersWhoCalledWithIt(t *testing.T) {
	fold := NewFold(0)
	mine := call(fold, "a", 30, "x")
	mine.By = "token of a"
	fold.Take(0, second(0), mine)
	theirs := call(fold, "a", 30, "x")
	theirs.By = "token of b"
	if got := fold.Take(1, second(1), theirs); got[0].Granted || got[0].Who.By != "token of a" {
		t.Errorf("%+v", got)
	}
	theirs = call(fold, "a", 30, "-x")
	theirs.By = "token of b"
	fold.Take(2, second(2), theirs)
	if fold.Held() != 1 {
		t.Error("another caller gave it up")
	}
}

// What the log has forgotten, a server that begins later has from the records that it finds: b asks all the time and is
// refused, and is not the first that it hears of for that.
func TestAServerThatBeginsLateSaysTheSame(t *testing.T) {
	whole := NewFold(0)
	var log []*poolsv1.HoldRecord
	take := func(fold *Fold, i int) string { return said(fold.Take(uint64(i), second(i), log[i])) }
	for i := range 40 {
		log = append(log, call(whole, []string{"a", "b"}[i%2], 30, "x"))
		take(whole, i)
	}
	for start := 1; start < 39; start++ {
		late := NewFold(uint64(start))
		again := NewFold(0)
		for i := range log {
			want := take(again, i)
			if i < start {
				continue
			}
			if got := take(late, i); got != want {
				t.Fatalf("begun at %d, at %d: %q, want %q", start, i, got, want)
			}
		}
	}
}

// A record whose server had not read all: what came since counts, not what it knew.
func TestTwoServersClaimAtOnce(t *testing.T) {
	fold := NewFold(0)
	first, second2 := call(fold, "a", 30, "x"), call(fold, "b", 30, "x")
	fold.Take(0, second(0), first)
	if got := said(fold.Take(1, second(0), second2)); got != "x: not, a 30s" {
		t.Error(got)
	}
	behind := call(NewFold(1), "b", 30, "x") // its server has read the first, and says that nobody has it: it lies or is wrong
	behind.Position = 1
	if got := said(fold.Take(2, second(1), behind)); got != "x: not, a 29s" {
		t.Error(got)
	}
}

func TestWhatNobodyHasIsForgotten(t *testing.T) {
	fold := NewFold(0)
	fold.Take(0, second(0), call(fold, "a", 300, "x"))
	fold.Take(1, second(599), call(fold, "a", 30, "y"))
	if fold.Kept() != 2 {
		t.Errorf("%d targets, want x for the longest lease after its end", fold.Kept())
	}
	fold.Take(2, second(610), call(fold, "a", 30, "y"))
	if fold.Kept() != 1 || fold.Knows("x") {
		t.Errorf("%d targets, want y alone", fold.Kept())
	}
}

func TestRecordsThatCannotBeUsed(t *testing.T) {
	legal := func() *poolsv1.HoldRecord { return call(NewFold(0), "a", 30, "x", "-y") }
	if err := Legal("a", legal()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*poolsv1.HoldRecord){
		"of another":         func(r *poolsv1.HoldRecord) { r.Holder = "b" },
		"without an id":      func(r *poolsv1.HoldRecord) { r.Id = "" },
		"without a target":   func(r *poolsv1.HoldRecord) { r.Claims, r.Releases = nil, nil },
		"of no lease":        func(r *poolsv1.HoldRecord) { r.Lease = nil },
		"of a long lease":    func(r *poolsv1.HoldRecord) { r.Lease = durationpb.New(301 * time.Second) },
		"of a lease of 1 ms": func(r *poolsv1.HoldRecord) { r.Lease = durationpb.New(time.Millisecond) },
		"of a target twice":  func(r *poolsv1.HoldRecord) { r.Releases[0].Target = "x" },
		"of a long target":   func(r *poolsv1.HoldRecord) { r.Claims[0].Target = strings.Repeat("x", MostTarget+1) },
		"of too many": func(r *poolsv1.HoldRecord) {
			for i := range MostTargets {
				r.Claims = append(r.Claims, &poolsv1.HoldClaim{Target: fmt.Sprint(i)})
			}
		},
		"of nobody until then": func(r *poolsv1.HoldRecord) { r.Claims[0].Until = timestamppb.New(second(0)) },
	} {
		record := legal()
		change(record)
		value, _ := proto.Marshal(record)
		if _, err := Read([]byte("a"), value); err == nil {
			t.Errorf("a record %s was read", name)
		}
	}
	if _, err := Read([]byte("a"), []byte("no record")); err == nil {
		t.Error("bytes that are no record were read")
	}
	fold := NewFold(7)
	fold.Skip(7, second(0))
	if fold.Position() != 8 {
		t.Errorf("at %d behind what is left out", fold.Position())
	}
}
