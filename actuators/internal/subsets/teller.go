package subsets

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// How long a report waits before it is sent again, and how often it is sent when the recommender fails on it.
const (
	firstPause = 500 * time.Millisecond
	mostPause  = 10 * time.Second
	mostFaults = 5
	// mostDetail is the longest detail that the recommender takes, in bytes.
	mostDetail = 4096
)

// Teller reports to the recommender what was done with its subsets, one report after another, each under an id of its own.
// While the recommender is away the reports wait. Beyond the limit the oldest is dropped, and that is logged.
type Teller struct {
	client  subsetsv1.SubsetServiceClient
	name    string
	limit   int
	timeout time.Duration
	log     *slog.Logger

	mu      sync.Mutex
	waiting []*subsetsv1.ReportDeliveryRequest
	added   chan struct{}
}

// NewTeller returns a Teller with room for limit reports; name is the reporting process.
func NewTeller(client subsetsv1.SubsetServiceClient, name string, limit int, timeout time.Duration, log *slog.Logger) *Teller {
	return &Teller{client: client, name: name, limit: limit, timeout: timeout, log: log, added: make(chan struct{}, 1)}
}

// Tell queues a report and returns at once.
func (t *Teller) Tell(delivery *subsetsv1.Delivery) {
	delivery.Client, delivery.At = t.name, timestamppb.Now()
	delivery.Detail = strings.ToValidUTF8(delivery.Detail[:min(len(delivery.Detail), mostDetail)], "")
	t.mu.Lock()
	t.waiting = append(t.waiting, &subsetsv1.ReportDeliveryRequest{Delivery: delivery, RequestId: rand.Text()})
	if len(t.waiting) > t.limit {
		t.log.Warn("too many reports of subsets wait: the oldest is dropped", "downstream", t.waiting[0].GetDelivery().GetKey().GetDownstream())
		t.waiting = t.waiting[1:]
	}
	t.mu.Unlock()
	select {
	case t.added <- struct{}{}:
	default:
	}
}

// Run sends until ctx ends. Flush sends the rest.
func (t *Teller) Run(ctx context.Context) {
	for {
		if t.Flush(ctx); ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-t.added:
		}
	}
}

// Flush sends the queued reports until the queue is empty or ctx ends. Do not call it while Run runs.
func (t *Teller) Flush(ctx context.Context) {
	retry := backoff.NewExponentialBackOff()
	retry.InitialInterval, retry.MaxInterval = firstPause, mostPause
	for faults := 0; ctx.Err() == nil; {
		report := t.first()
		if report == nil {
			return
		}
		call, cancel := context.WithTimeout(ctx, t.timeout)
		_, err := t.client.ReportDelivery(call, report)
		cancel()
		switch status.Code(err) {
		case codes.Internal, codes.Unknown:
			faults++
		case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Aborted, codes.Canceled:
		default:
			faults = mostFaults // taken, or refused for good
		}
		if faults < mostFaults {
			select {
			case <-ctx.Done():
			case <-time.After(retry.NextBackOff()):
			}
			continue
		}
		if err != nil {
			t.log.Warn("recommender rejected a report", "downstream", report.GetDelivery().GetKey().GetDownstream(), "error", err)
		}
		t.done(report)
		faults = 0
		retry.Reset()
	}
}

func (t *Teller) first() *subsetsv1.ReportDeliveryRequest {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		return nil
	}
	return t.waiting[0]
}

// done removes a report from the queue, if it was not dropped meanwhile.
func (t *Teller) done(report *subsetsv1.ReportDeliveryRequest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) > 0 && t.waiting[0] == report {
		t.waiting = t.waiting[1:]
	}
}

// Waiting is how many reports wait.
func (t *Teller) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}
