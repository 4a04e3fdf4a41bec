package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"sluice.dev/serve/internal/hostiletest"
	"sluice.dev/serve/internal/journaltest"

	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// lineCounter is a log that counts its lines.
type lineCounter struct {
	slog.Handler
	lines *atomic.Int64
}

func (l lineCounter) Enabled(context.Context, slog.Level) bool { return true }

func (l lineCounter) Handle(context.Context, slog.Record) error { l.lines.Add(1); return nil }

// legalTexts lead past the first check of a request to what hostileWorld has in the journal.
var legalTexts = map[protoreflect.Name][]string{
	"service": {"cart"}, "peer": {"db"}, "instance": {"a-1"}, "upstream": {"a"}, "downstream": {"b"}, "id": {"a~a-1", "%ff~%fe", "sidecar~1~2~3"},
	"type_url":       {assignments, "type.googleapis.com/envoy.config.cluster.v3.Cluster", "type.googleapis.com/envoy.config.listener.v3.Listener"},
	"resource_names": {"b", "c", "*"}, "resource_names_subscribe": {"b", "c", "*"}, "by": {"ann"}, "actuator": {"a"}, "target_name": {"cart-1"},
	"session": {"known"}, "name": {"known", "new"}, "target": {"shop"}, "request_id": {"", "one"}, "resume_token": {""}, "page_token": {""},
}

// hostileWorld is a server with a pool and subsets, and the number of lines of its log.
func hostileWorld(t *testing.T) (*running, *journaltest.Decider, *atomic.Int64) {
	t.Helper()
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Publish(journaltest.Apply(cart, 1, 8), journaltest.Apply(journaltest.Client("cart", "db"), 1, 8))
	d.Connect([]*subsetsv1.ServiceContainers{journaltest.Containers("b", "b-1", "b-2"), journaltest.Containers("c", "c-1")},
		journaltest.Subset(subsetOf("a", "a-1", "b"), 1, "b-1"))
	lines := &atomic.Int64{}
	r := start(t, journal, options{log: slog.New(lineCounter{slog.DiscardHandler, lines})}).ready(t)
	return r, d, lines
}

// methods are those of every service that the server serves, as it says itself.
func (r *running) methods(t *testing.T) []protoreflect.MethodDescriptor {
	t.Helper()
	return r.methodsAs(t, t.Context())
}

// methodsAs asks with the token in ctx.
func (r *running) methodsAs(t *testing.T, ctx context.Context) (methods []protoreflect.MethodDescriptor) {
	t.Helper()
	stream, err := reflectionv1.NewServerReflectionClient(r.link).ServerReflectionInfo(ctx)
	must(t, err)
	must(t, stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}))
	listed, err := stream.Recv()
	must(t, err)
	for _, service := range listed.GetListServicesResponse().GetService() {
		found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service.GetName()))
		must(t, err)
		all := found.(protoreflect.ServiceDescriptor).Methods()
		for i := range all.Len() {
			methods = append(methods, all.Get(i))
		}
	}
	return methods
}

// send calls a method with random requests for at most a time (watches and calls that wait for a decider have no end here), and
// returns its error.
func (r *running) send(ctx context.Context, within time.Duration, maker hostiletest.Maker, method protoreflect.MethodDescriptor) error {
	path := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if !method.IsStreamingClient() && !method.IsStreamingServer() {
		request := maker.Bytes(method.Input())
		return r.link.Invoke(ctx, path, &request, &[]byte{}, grpc.ForceCodecV2(raw{}))
	}
	stream, err := r.link.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, path, grpc.ForceCodecV2(raw{}))
	if err != nil {
		return err
	}
	for range 1 + maker.Random.IntN(4) {
		request := maker.Bytes(method.Input())
		if stream.SendMsg(&request) != nil || !method.IsStreamingClient() {
			break
		}
	}
	_ = stream.CloseSend()
	for range 4 {
		if err := stream.RecvMsg(&[]byte{}); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// setting is a number from the environment: SLUICE_HOSTILE_CALLS, the number of calls of each method; SLUICE_SEED, to repeat a run.
func setting(name string, usual uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return usual
}

// TestRandomMessagesReachEveryAnswer shows that the test below tries more than the first check of a request. A call without a
// wait is asked, with patience, so a slow machine gets the same codes.
func TestRandomMessagesReachEveryAnswer(t *testing.T) {
	r, _, _ := hostileWorld(t)
	maker := hostiletest.Maker{Random: rand.New(rand.NewPCG(1, 0)), Legal: legalTexts}
	method := poolsv1.File_sluice_pools_v1_pool_size_service_proto.Services().ByName("PoolSizeService").Methods().ByName("GetPoolSize")
	seen := map[codes.Code]int{}
	for range 1000 {
		seen[status.Code(r.send(t.Context(), patience, maker, method))]++
	}
	for _, code := range []codes.Code{codes.OK, codes.InvalidArgument, codes.NotFound, codes.ResourceExhausted} {
		if seen[code] == 0 {
			t.Errorf("no call got %v: %v", code, seen)
		}
	}
}

// TestNoMessageOfACallerBreaksTheServer calls every method with random messages: none ends the server (a panic ends this test),
// none is the server's fault by its code, the heap and the log do not grow, and a good request is answered afterwards.
func TestNoMessageOfACallerBreaksTheServer(t *testing.T) {
	seed, calls := setting("SLUICE_SEED", uint64(time.Now().UnixNano())), setting("SLUICE_HOSTILE_CALLS", 40)
	t.Logf("SLUICE_SEED=%d", seed)
	r, _, lines := hostileWorld(t)
	methods := r.methods(t)
	if len(methods) < 28 {
		t.Fatalf("only %d methods", len(methods))
	}
	before := heap()
	var workers sync.WaitGroup
	for number, method := range methods {
		workers.Add(1)
		go func() {
			defer workers.Done()
			maker := hostiletest.Maker{Random: rand.New(rand.NewPCG(seed, uint64(number))), Legal: legalTexts}
			for range calls {
				err := r.send(context.Background(), 200*time.Millisecond, maker, method)
				code := status.Code(err)
				if code == codes.Internal || code == codes.Unknown || code == codes.DataLoss {
					t.Errorf("%s: %v", method.FullName(), err)
				}
			}
		}()
	}
	workers.Wait()
	if n := lines.Load(); n > 100 {
		t.Errorf("%d lines of log", n)
	}
	eventually(t, "the heap is as before", func() bool { return heap() < before+32<<20 })
	_, err := r.client.GetPoolSize(t.Context(), &poolsv1.GetPoolSizeRequest{Pool: cart.Proto()})
	must(t, err)
}
