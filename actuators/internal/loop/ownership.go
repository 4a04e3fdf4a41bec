package loop

import (
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/actuators/internal/disk"
)

// ownership is what the recommender's newest answer to a report says: who else owns the target. The zero value is nobody. It is for
// several goroutines.
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

// identity is the reporter of the target. Empty where a Lease or a file's lock decides who writes it: processes that wait for
// either report it, too.
func (w *worker) identity() string {
	if _, locked := w.Realizer.(disk.Claimer); locked || w.Owner != nil && w.Object.Name != "" {
		return ""
	}
	return w.Identity
}

// elsewhere says which other reporter owns the target, by the newest answer, or by what became of this process's newest report.
// Empty: none does.
func (w *worker) elsewhere() string {
	me := w.identity()
	if me == "" {
		return ""
	}
	instance := w.Instance
	if instance == "" {
		instance = w.Name
	}
	for _, size := range w.Source.Latest().Answer(w.Pool).GetSizes() {
		if owner := size.GetReporter(); size.GetInstance() == instance && owner != "" && owner != me {
			return owner + " owns the target"
		}
	}
	return w.owned.get()
}

// answered is after a report. Of one that was refused for another reason than the target's owner, as of a pool that the
// recommender does not know yet, the size is told again with the next reading.
func (w *worker) answered(err error) {
	switch status.Code(err) {
	case codes.OK:
		w.owned.set("")
	case codes.FailedPrecondition: // TARGET_OWNED
		w.owned.set(status.Convert(err).Message())
	default:
		w.heard.forget()
	}
}
