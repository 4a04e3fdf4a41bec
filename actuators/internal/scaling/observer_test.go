package scaling_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"sluice.dev/actuators/internal/scaling"
	"sluice.dev/actuators/internal/tests/recommendertest"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

type source struct {
	now scaling.Reading
	err error
}

func (s *source) Read(context.Context) (scaling.Reading, error) { return s.now, s.err }

// observe makes an observer of cart that notifies a real gRPC server.
func observe(t *testing.T, from scaling.Source) (*scaling.Observer, *recommendertest.Server, *bytes.Buffer) {
	server := recommendertest.Start(t)
	connection, err := grpc.NewClient(server.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	client := poolsv1.NewPoolSizeServiceClient(connection)
	notify := func(ctx context.Context, event *commonv1.ScalingEvent) (uint32, error) {
		response, err := client.NotifyScaling(ctx, &poolsv1.NotifyScalingRequest{ScalingEvent: event})
		return response.GetPools(), err
	}
	var logs bytes.Buffer
	return scaling.NewObserver("cart", "rack-7", 10*time.Millisecond, from, notify, slog.New(slog.NewTextHandler(&logs, nil))), server, &logs
}

func TestObserverReportsEachChangeOnce(t *testing.T) {
	s := &source{now: scaling.Reading{CPULimitCores: 2}}
	o, server, logs := observe(t, s)
	for _, cores := range []float64{2, 2, 4, 4, 2} {
		s.now.CPULimitCores = cores
		o.Observe(t.Context())
	}
	var reported []float64
	for _, event := range server.Scalings() {
		reported = append(reported, event.GetCpuLimitCores())
		if event.GetSource() != "rack-7" || event.GetService() != "cart" || time.Since(event.GetAt().AsTime()) > 10*time.Second {
			t.Errorf("event %v", event)
		}
	}
	if len(reported) != 3 || reported[0] != 2 || reported[1] != 4 || reported[2] != 2 {
		t.Errorf("told %v, want 2, 4 and 2", reported)
	}
	if got := o.Stats(); got != (scaling.Stats{Service: "cart", Taken: 3}) {
		t.Errorf("stats %+v", got)
	}
	if n := strings.Count(logs.String(), "the recommender took a scaling event"); n != 3 {
		t.Errorf("logged %d times, want 3:\n%s", n, logs)
	}
}

// Of changes that the recommender did not take, the newest state is sent, with the time of its first reading.
func TestObserverReportsAgainUntilTaken(t *testing.T) {
	s := &source{now: scaling.Reading{CPULimitCores: 2}}
	o, server, logs := observe(t, s)
	server.Fail(status.Error(codes.Unavailable, "not stored"))
	began := time.Now()
	o.Observe(t.Context())
	readAt := time.Now()
	time.Sleep(50 * time.Millisecond)
	o.Observe(t.Context())
	if got := o.Stats(); got.Taken != 0 || !strings.Contains(got.Error, "not stored") {
		t.Errorf("stats %+v", got)
	}
	server.Fail(nil)
	o.Observe(t.Context())
	events := server.Scalings()
	if len(events) != 1 || events[0].GetAt().AsTime().Before(began) || events[0].GetAt().AsTime().After(readAt) {
		t.Errorf("events %v, want one of %s to %s", events, began, readAt)
	}
	if got := o.Stats(); got.Taken != 1 || got.Error != "" {
		t.Errorf("stats %+v", got)
	}
	if n := strings.Count(logs.String(), "waits for the recommender"); n != 1 {
		t.Errorf("logged %d times, want once:\n%s", n, logs)
	}
}

func TestObserverGivesUpARejectedEvent(t *testing.T) {
	s := &source{now: scaling.Reading{CPULimitCores: 2}}
	o, server, _ := observe(t, s)
	server.Fail(status.Error(codes.InvalidArgument, "no"))
	o.Observe(t.Context())
	server.Fail(nil)
	o.Observe(t.Context())
	if got := o.Stats(); got.Rejected != 1 || len(server.Scalings()) != 0 {
		t.Errorf("stats %+v, %d events", got, len(server.Scalings()))
	}
	s.now.CPULimitCores = 4
	o.Observe(t.Context())
	if events := server.Scalings(); len(events) != 1 || events[0].GetCpuLimitCores() != 4 {
		t.Errorf("events %v, want the next change", events)
	}
}

func TestObserverSurvivesASourceThatFails(t *testing.T) {
	s := &source{err: errors.New("gone")}
	o, server, logs := observe(t, s)
	o.Observe(t.Context())
	o.Observe(t.Context())
	if got := o.Stats(); got.Error != "gone" || strings.Count(logs.String(), "cannot read") != 1 {
		t.Errorf("stats %+v, log:\n%s", got, logs)
	}
	s.now, s.err = scaling.Reading{Version: "v2"}, nil
	o.Observe(t.Context())
	if events := server.Scalings(); len(events) != 1 || events[0].GetVersion() != "v2" || o.Stats().Error != "" {
		t.Errorf("events %v, stats %+v", events, o.Stats())
	}
}

func TestObserverRunsUntilItIsStopped(t *testing.T) {
	o, server, _ := observe(t, &source{now: scaling.Reading{Version: "v1"}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { o.Run(ctx); close(done) }()
	for end := time.Now().Add(2 * time.Minute); len(server.Scalings()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing told within 2 min")
		}
	}
	cancel()
	<-done
}
