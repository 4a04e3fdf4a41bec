// Package recommendertest is a real gRPC server of PoolSizeService and SubsetService on loopback, whose decisions a test
// sets. Its watches keep the promises of the proto: first everything, then the changes, each time with a token that resumes
// there.
package recommendertest

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools/pool"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Server serves until the test ends.
type Server struct {
	poolsv1.UnimplementedPoolSizeServiceServer
	Address string

	options []grpc.ServerOption
	server  *grpc.Server

	mu       sync.Mutex
	sizes    map[pool.Key]*poolsv1.PoolSize
	at       map[pool.Key]int // the set of a decision
	number   int              // of sets
	run      int              // of Listen: tokens of an earlier run are unknown
	lease    time.Duration    // of heartbeats
	news     chan struct{}
	broken   chan struct{}
	watches  []*poolsv1.WatchPoolSizesRequest
	reports  []*poolsv1.Actuation
	ids      map[string]bool // of reports
	scalings []*commonv1.ScalingEvent
	fault    error

	subsets    map[string]*subsetsv1.Subset
	subsetAt   map[string]int
	deliveries []*subsetsv1.ReportDeliveryRequest
}

// Start listens on a free port; heartbeats carry a lease of a minute.
func Start(t *testing.T, options ...grpc.ServerOption) *Server {
	s := &Server{
		Address: "127.0.0.1:0", options: options, lease: time.Minute, number: 1,
		sizes: map[pool.Key]*poolsv1.PoolSize{}, at: map[pool.Key]int{},
		ids: map[string]bool{}, subsets: map[string]*subsetsv1.Subset{}, subsetAt: map[string]int{},
		news: make(chan struct{}), broken: make(chan struct{}),
	}
	s.Listen(t)
	t.Cleanup(s.Stop)
	return s
}

// Listen serves at its last address, if any: so a test can stop it and start it again.
func (s *Server) Listen(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", s.Address)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.run++
	s.mu.Unlock()
	s.Address = listener.Addr().String()
	s.server = grpc.NewServer(s.options...)
	poolsv1.RegisterPoolSizeServiceServer(s.server, s)
	subsetsv1.RegisterSubsetServiceServer(s.server, subsets{Server: s})
	go s.server.Serve(listener)
}

// Stop ends every call.
func (s *Server) Stop() { s.server.Stop() }

// Recommend sets a decision with APPLY and a lease of a minute, and sends it to the watchers.
func (s *Server) Recommend(key pool.Key, target uint32, revision uint64) {
	s.Answer(&poolsv1.PoolSize{
		Pool: key.Proto(), Action: commonv1.Action_ACTION_APPLY, Target: &target, Revision: revision,
		ValidUntil: timestamppb.New(time.Now().Add(time.Minute)), Model: "scg", Confidence: 0.8,
	})
}

// Answer sets any decision, and sends it to the watchers.
func (s *Server) Answer(size *poolsv1.PoolSize) {
	s.change(func() {
		s.number++
		key := pool.FromProto(size.GetPool())
		s.sizes[key], s.at[key] = size, s.number
	})
}

// Forget removes every decision; watchers notice it when they connect again.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sizes)
}

// Beat sends a heartbeat with a lease of that length, which the later heartbeats have, too.
func (s *Server) Beat(lease time.Duration) {
	s.change(func() {
		s.number++
		s.lease = lease
	})
}

// Break ends every watch with UNAVAILABLE; new watches are served.
func (s *Server) Break() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.broken)
	s.broken = make(chan struct{})
}

// Fail makes NotifyScaling return err; nil: take events.
func (s *Server) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
}

// Watches returns the requests for watches so far.
func (s *Server) Watches() []*poolsv1.WatchPoolSizesRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*poolsv1.WatchPoolSizesRequest(nil), s.watches...)
}

// Scalings returns the scaling events taken so far.
func (s *Server) Scalings() []*commonv1.ScalingEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*commonv1.ScalingEvent(nil), s.scalings...)
}

// Reports returns all reports so far. A report that was sent again under its id appears once.
func (s *Server) Reports() (all []*poolsv1.Actuation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(all, s.reports...)
}

// Find returns the first report of a target with an outcome, nil if there is none yet.
func (s *Server) Find(target string, outcome poolsv1.ActuationOutcome) *poolsv1.Actuation {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, report := range s.reports {
		if report.GetTargetName() == target && report.GetOutcome() == outcome {
			return report
		}
	}
	return nil
}

// ListPoolSizes implements the service, with one decision a page.
func (s *Server) ListPoolSizes(_ context.Context, request *poolsv1.ListPoolSizesRequest) (*poolsv1.ListPoolSizesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.sizes))
	byName := map[string]*poolsv1.PoolSize{}
	for key, size := range s.sizes {
		names = append(names, key.String())
		byName[key.String()] = size
	}
	slices.Sort(names)
	for i, name := range names {
		if name > request.GetPageToken() {
			response := &poolsv1.ListPoolSizesResponse{PoolSizes: []*poolsv1.PoolSize{byName[name]}}
			if i+1 < len(names) {
				response.NextPageToken = name
			}
			return response, nil
		}
	}
	return &poolsv1.ListPoolSizesResponse{}, nil
}

// WatchPoolSizes implements the service.
func (s *Server) WatchPoolSizes(request *poolsv1.WatchPoolSizesRequest, stream poolsv1.PoolSizeService_WatchPoolSizesServer) error {
	s.mu.Lock()
	s.watches = append(s.watches, proto.CloneOf(request))
	s.mu.Unlock()
	return follow(s, stream, request.GetResumeToken(), func(known bool, position int) (events []*poolsv1.WatchPoolSizesResponse) {
		for key, size := range s.sizes {
			if service := request.GetService(); (service == "" || service == key.Service) && (!known || s.at[key] > position) {
				events = append(events, &poolsv1.WatchPoolSizesResponse{
					Event: &poolsv1.WatchPoolSizesResponse_PoolSize{PoolSize: size}})
			}
		}
		last := &poolsv1.WatchPoolSizesResponse{ResumeToken: s.token()}
		if known {
			last.Event = &poolsv1.WatchPoolSizesResponse_Heartbeat{Heartbeat: &commonv1.Heartbeat{
				ComputedAt: timestamppb.Now(), ValidUntil: timestamppb.New(time.Now().Add(s.lease))}}
		} else {
			last.Event = &poolsv1.WatchPoolSizesResponse_Snapshot{Snapshot: &commonv1.Snapshot{Answers: uint32(len(events))}}
		}
		return append(events, last)
	})
}

// ReportActuation implements the service.
func (s *Server) ReportActuation(_ context.Context, request *poolsv1.ReportActuationRequest) (*poolsv1.ReportActuationResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := request.GetRequestId(); id != "" {
		if s.ids[id] {
			return &poolsv1.ReportActuationResponse{}, nil
		}
		s.ids[id] = true
	}
	s.reports = append(s.reports, proto.CloneOf(request.GetActuation()))
	return &poolsv1.ReportActuationResponse{}, nil
}

// NotifyScaling implements the service.
func (s *Server) NotifyScaling(_ context.Context, request *poolsv1.NotifyScalingRequest) (*poolsv1.NotifyScalingResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil {
		return nil, s.fault
	}
	s.scalings = append(s.scalings, proto.CloneOf(request.GetScalingEvent()))
	return &poolsv1.NotifyScalingResponse{Pools: 1}, nil
}

// change runs do and wakes every watch.
func (s *Server) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.news)
	s.news = make(chan struct{})
}
