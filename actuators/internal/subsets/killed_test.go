package subsets_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice.dev/actuators/internal/subsets"
	"sluice.dev/actuators/internal/tests/files"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// A process is killed at each step of a write. The next one ends with its own subset in force, with the program notified, and
// reports once; its subset may be the same or another one.
func TestKilledAtEachStepOfAWriteToAFile(t *testing.T) {
	const before, wrote = "10.0.0.9:80 1\n", "10.0.0.1:80 1\n"
	// In this order a write makes them: list is the file, running what the program has of it.
	steps := []map[string]string{
		{"list": before, "running": before},
		{"list": before, "running": before, "list.before-sluice": before},
		{"list": before, "running": before, "list.before-sluice": before, "list.untold-sluice": ""},
		{"list": wrote, "running": before, "list.before-sluice": before, "list.untold-sluice": ""},
		{"list": wrote, "running": wrote, "list.before-sluice": before, "list.untold-sluice": ""},
		{"list": wrote, "running": wrote, "list.before-sluice": before},
	}
	for step, left := range steps {
		for _, member := range []string{"10.0.0.1:80", "10.0.0.2:80"} {
			t.Run(fmt.Sprintf("step %d, then %s", step, member), func(t *testing.T) {
				folder := t.TempDir()
				for name, text := range left {
					files.Write(t, filepath.Join(folder, name), text)
				}
				list, running := filepath.Join(folder, "list"), filepath.Join(folder, "running")
				config := subsets.DefaultFile()
				config.Path, config.Command = list, []string{"cp", list, running}
				realizer, err := config.Open("front-cart")
				if err != nil {
					t.Fatal(err)
				}
				var reported []subsetsv1.DeliveryOutcome
				l := &subsets.Loop{Log: slog.New(slog.DiscardHandler), Reporter: reporter(func(r subsets.Report) {
					reported = append(reported, r.Message.GetDelivery().GetOutcome())
				})}
				target := subsets.Target{
					Name: "front-cart", Key: &subsetsv1.SubsetKey{Upstream: "front", Instance: "front-1", Downstream: "cart"},
					Realizer: realizer, Rules: subsets.Rules{Apply: true, Min: 1}, Settle: time.Second,
				}
				if _, err := l.Once(t.Context(), target, answer(7, member)); err != nil {
					t.Fatal(err)
				}
				if want := member + " 1\n"; files.Read(t, list) != want || files.Read(t, running) != want {
					t.Errorf("the file has %q, the program %q, want %q", files.Read(t, list), files.Read(t, running), want)
				}
				if len(reported) != 1 || reported[0] != subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_APPLIED {
					t.Errorf("reported %v", reported)
				}
				if _, err := os.Lstat(list + ".untold-sluice"); err == nil {
					t.Error("the program counts as not told")
				}
				if err := l.Remove(t.Context(), target); err != nil || files.Read(t, running) != before {
					t.Errorf("taken away: %v, the program has %q", err, files.Read(t, running))
				}
			})
		}
	}
}
