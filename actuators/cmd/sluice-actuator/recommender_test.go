package main

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	sluicev1 "sluice.dev/actuators/gen/sluice/v1"
	"sluice.dev/actuators/internal/pool"
)

// recommender is a real gRPC server of PoolSizeService on loopback; what it answers is set by the test.
type recommender struct {
	sluicev1.UnimplementedPoolSizeServiceServer
	address string
	server  *grpc.Server

	mu      sync.Mutex
	sizes   []*sluicev1.PoolSize
	reports []*sluicev1.Actuation
}

func startRecommender(t *testing.T) *recommender {
	r := &recommender{address: "127.0.0.1:0"}
	r.listen(t)
	t.Cleanup(func() { r.server.Stop() })
	return r
}

// listen serves at the address that it had before, if any: so a test can stop it and start it again.
func (r *recommender) listen(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	r.address = listener.Addr().String()
	r.server = grpc.NewServer()
	sluicev1.RegisterPoolSizeServiceServer(r.server, r)
	go r.server.Serve(listener)
}

func (r *recommender) recommend(key pool.Key, target uint32, revision uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sizes = append(r.sizes, &sluicev1.PoolSize{
		Pool: key.Proto(), State: sluicev1.State_PROVIDED, Target: &target, Revision: revision,
		ValidUntil: timestamppb.New(time.Now().Add(time.Minute)), Model: "scg", Confidence: 0.8,
	})
}

func (r *recommender) ListPoolSizes(context.Context, *sluicev1.ListPoolSizesRequest) (*sluicev1.ListPoolSizesResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &sluicev1.ListPoolSizesResponse{PoolSizes: append([]*sluicev1.PoolSize(nil), r.sizes...)}, nil
}

func (r *recommender) ReportActuation(_ context.Context, request *sluicev1.ReportActuationRequest) (*sluicev1.ReportActuationResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, proto.CloneOf(request.GetActuation()))
	return &sluicev1.ReportActuationResponse{}, nil
}

// find returns the first report of a target with an outcome, nil if there is none yet.
func (r *recommender) find(target string, outcome sluicev1.ActuationOutcome) *sluicev1.Actuation {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, report := range r.reports {
		if report.GetTargetName() == target && report.GetOutcome() == outcome {
			return report
		}
	}
	return nil
}
