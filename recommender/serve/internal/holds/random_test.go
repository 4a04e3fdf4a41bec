package holds

import (
	"math/rand/v2"
	"testing"
	"time"

	poolsv1 "sluice.dev/api/pools/v1"
)

// world is a log that forgets, servers that read it at different speeds and begin anew where it begins, and processes that
// write what they were granted.
type world struct {
	t         *testing.T
	rand      *rand.Rand
	now       time.Time
	log       []stored
	start     int // what is before it the log has forgotten
	servers   []*reading
	processes []*process
	// came has what came of each record.
	came                       map[int]string
	granted, refused, takeover int
	last                       map[string]string
}

type stored struct {
	at     time.Time
	record *poolsv1.HoldRecord
}

// reading is a server. It answers once it has read to `whole`.
type reading struct {
	fold        *Fold
	whole, next int
}

// process is an actuator: what it was granted is safe until a time, by its own clock.
type process struct {
	name string
	safe map[string]time.Time
	// sent is its one call under way, on a server: written after `delay`, answered once read there.
	sent    time.Time
	lease   time.Duration
	record  *poolsv1.HoldRecord
	server  *reading
	offset  int
	waiting bool
}

var names = []string{"x", "y", "z"}

const worldKeeps = 3 * LongestLease

func (w *world) begin() *reading {
	return &reading{fold: NewFold(uint64(w.start)), whole: len(w.log), next: w.start}
}

// read takes up to n records at a server.
func (w *world) read(s *reading, n int) {
	for ; n > 0 && s.next < len(w.log); n-- {
		offset, each := s.next, w.log[s.next]
		s.next++
		claimed := s.fold.Take(uint64(offset), each.at, each.record)
		if offset >= s.whole { // it answers from here on
			if got, before := said(claimed), w.came[offset]; before != "" && got != before {
				w.t.Fatalf("record %d: %q at one server, %q at another", offset, got, before)
			}
			w.came[offset] = said(claimed)
		}
		for _, p := range w.processes {
			if p.waiting && p.server == s && p.offset == offset {
				w.answer(p, claimed)
			}
		}
	}
}

func (w *world) answer(p *process, claimed []Claimed) {
	p.waiting = false
	for _, each := range claimed {
		if !each.Granted {
			w.refused++
			delete(p.safe, each.Target)
			continue
		}
		w.granted++
		if w.last[each.Target] != p.name {
			w.takeover++
		}
		w.last[each.Target] = p.name
		p.safe[each.Target] = p.sent.Add(p.lease * 3 / 4)
	}
}

// ask makes a call's record at a server that has read all that there was when it began; it is written later.
func (w *world) ask(p *process) {
	s := w.servers[w.rand.IntN(len(w.servers))]
	if p.record != nil || p.waiting || s.next < s.whole {
		return
	}
	p.lease = time.Duration(5+w.rand.IntN(60)) * time.Second
	if w.rand.IntN(10) == 0 {
		p.lease = LongestLease
	}
	p.sent, p.server = w.now, s
	var targets []string
	for _, target := range names {
		if w.rand.IntN(2) == 0 {
			targets = append(targets, target)
		}
	}
	if len(targets) > 0 && w.rand.IntN(20) == 0 {
		delete(p.safe, targets[0])
		targets[0] = "-" + targets[0]
	}
	if len(targets) > 0 {
		p.record = call(s.fold, p.name, int(p.lease/time.Second), targets...)
	}
}

// write puts the record of a call into the log.
func (w *world) write(p *process) {
	if p.record == nil {
		return
	}
	p.offset, p.waiting = len(w.log), true
	w.log = append(w.log, stored{w.now, p.record})
	p.record = nil
}

func (w *world) step() {
	p := w.processes[w.rand.IntN(len(w.processes))]
	s := w.rand.IntN(len(w.servers))
	switch w.rand.IntN(12) {
	case 0, 1, 2:
		w.ask(p)
	case 3, 4, 5:
		w.write(p)
	case 6, 7, 8:
		w.read(w.servers[s], 1+w.rand.IntN(8))
	case 9:
		w.now = w.now.Add(time.Duration(w.rand.IntN(3000)) * time.Millisecond)
	case 10:
		if w.rand.IntN(20) == 0 { // a server begins anew; who waited for it hears nothing
			for _, each := range w.processes {
				if each.server == w.servers[s] {
					each.waiting, each.record = false, nil
				}
			}
			w.servers[s] = w.begin()
		}
		if w.rand.IntN(400) == 0 { // a long silence
			w.now = w.now.Add(time.Duration(w.rand.IntN(900)) * time.Second)
		}
	case 11:
		for w.start < len(w.log) && w.now.Sub(w.log[w.start].at) > worldKeeps {
			w.start++
		}
	}
	for _, each := range w.servers { // none is behind for as long as the log keeps
		if each.next < len(w.log) && w.now.Sub(w.log[each.next].at) > 10*time.Second {
			w.read(each, len(w.log))
		}
	}
	for _, each := range w.processes { // nor is a record written long after its call
		if each.record != nil && w.now.Sub(each.sent) > 10*time.Second {
			each.record = nil
		}
	}
}

// Whatever happens, a target is safe to write for one process at most, and servers that answer say the same of each record.
func TestNoTwoProcessesHaveOneTarget(t *testing.T) {
	for seed := range uint64(10) {
		w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 13)), now: second(0), came: map[int]string{}, last: map[string]string{}}
		w.servers = []*reading{w.begin(), w.begin(), w.begin()}
		for _, name := range []string{"a", "b", "c"} {
			w.processes = append(w.processes, &process{name: name, safe: map[string]time.Time{}})
		}
		for range 12_000 {
			w.step()
			for _, target := range names {
				var owner *process
				for _, p := range w.processes {
					if !w.now.Before(p.safe[target]) {
						continue
					}
					if owner != nil {
						t.Fatalf("seed %d: %s and %s have target %s at %s", seed, owner.name, p.name, target, w.now)
					}
					owner = p
				}
			}
		}
		if w.granted < 100 || w.refused < 100 || w.takeover < 10 || w.start == 0 {
			t.Errorf("seed %d: %d granted, %d refused, %d taken over, %d forgotten: too few to tell", seed, w.granted, w.refused, w.takeover, w.start)
		}
	}
}
