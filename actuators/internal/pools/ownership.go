package pools

import (
	"errors"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/actuators/internal/disk"
)

// ownership is the other reporter that owns the target, by the recommender's newest answer to a report. The zero value is
// none. It is safe for several goroutines.
type ownership struct {
	mu   sync.Mutex
	text string
}

func (o *ownership) set(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = text
}

func (o *ownership) get() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text
}

// identity is the reporter of the target. It is empty where the process only recommends, because it writes nothing that
// another could undo; and where a Lease or a file's lock decides who writes, because waiting processes report the target, too.
func (w *worker) identity() string {
	if !w.Rules.Apply {
		return ""
	}
	if _, locked := w.Realizer.(disk.Claimer); locked || w.Owner != nil && w.Object.Name != "" {
		return ""
	}
	return w.Identity
}

// otherReporter names the other reporter that owns the target, by the newest decision, or by the answer to this process's
// newest report. Nil: none does.
func (w *worker) otherReporter() error {
	me := w.identity()
	if me == "" {
		return nil
	}
	instance := w.Instance
	if instance == "" {
		instance = w.Name
	}
	for _, size := range w.Source.Latest().Answer(w.Pool).GetSizes() {
		if owner := size.GetReporter(); size.GetInstance() == instance && owner != "" && owner != me {
			return errors.New(owner + " owns the target")
		}
	}
	if owner := w.ownership.get(); owner != "" {
		return errors.New(owner)
	}
	return nil
}

// acknowledged handles the answer to a report. A report may be refused for another reason than the target's owner, as for a pool
// that the recommender does not know yet. Then the next reading is reported again.
func (w *worker) acknowledged(err error) {
	switch status.Code(err) {
	case codes.OK:
		w.ownership.set("")
	case codes.FailedPrecondition: // TARGET_OWNED
		w.ownership.set(status.Convert(err).Message())
	default:
		w.lastReport.forget()
	}
}
