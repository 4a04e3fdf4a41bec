package server_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/xds"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// backend is a container of a service: a server that counts its calls.
type backend struct {
	name, address string
	calls         atomic.Int64
}

func backends(t *testing.T, names ...string) map[string]*backend {
	t.Helper()
	all := map[string]*backend{}
	for _, name := range names {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		b := &backend{name: name, address: listener.Addr().String()}
		s := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			b.calls.Add(1)
			return next(ctx, request)
		}))
		healthv1.RegisterHealthServer(s, health.NewServer())
		go s.Serve(listener) //nolint:errcheck // it ends when it is stopped
		t.Cleanup(s.Stop)
		all[name] = b
	}
	return all
}

// containers are the containers of the service whose servers are backends.
func containers(service string, backends map[string]*backend, names ...string) *subsetsv1.ServiceContainers {
	message := &subsetsv1.ServiceContainers{Service: service}
	for _, name := range names {
		message.Containers = append(message.Containers, &subsetsv1.Container{Instance: name, Address: backends[name].address})
	}
	return message
}

// weighted is a1b's subset of backends with weights.
func weighted(revision uint64, backends map[string]*backend, weights map[string]uint32) *subsetsv1.Subset {
	s := &subsetsv1.Subset{Key: a1b.Proto(), State: subsetsv1.State_STATE_PROVIDED, Revision: revision}
	for _, name := range []string{"b-1", "b-2", "b-3", "b-4"} {
		if weight := weights[name]; weight > 0 {
			s.Endpoints = append(s.Endpoints, &subsetsv1.Endpoint{Instance: name, Address: backends[name].address, Weight: weight})
		}
	}
	return s
}

// stock is a published client of gRPC: only the bootstrap's addresses are Sluice's. It calls without a pause.
type stock struct {
	done, failed atomic.Int64
	first        atomic.Pointer[error]
	stop         func()
}

const (
	bootstrap = `{"xds_servers": [{"server_uri": %q, %s, "server_features": ["xds_v3"]}], "node": {"id": "a~a-1"}}`
	inTheOpen = `"channel_creds": [{"type": "insecure"}]`
)

func calling(t *testing.T, server string) *stock {
	t.Helper()
	return callingBy(t, server, inTheOpen)
}

// callingBy has the credentials for the xDS server from a bootstrap.
func callingBy(t *testing.T, server, credentials string) *stock {
	t.Helper()
	resolver, err := xds.NewXDSResolverWithConfigForTesting(fmt.Appendf(nil, bootstrap, server, credentials))
	must(t, err)
	link, err := grpc.NewClient("xds:///b", grpc.WithResolvers(resolver), grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	s := &stock{}
	ctx, cancel := context.WithCancel(context.Background())
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for ctx.Err() == nil {
				within, end := context.WithTimeout(ctx, patience)
				_, err := healthv1.NewHealthClient(link).Check(within, &healthv1.HealthCheckRequest{})
				end()
				switch {
				case err == nil:
					s.done.Add(1)
				case ctx.Err() == nil:
					s.failed.Add(1)
					s.first.CompareAndSwap(nil, &err)
				}
				time.Sleep(200 * time.Microsecond)
			}
		})
	}
	s.stop = sync.OnceFunc(func() { cancel(); both.Wait(); link.Close() })
	t.Cleanup(s.stop)
	return s
}

// callMore waits for so many further calls.
func (s *stock) callMore(t *testing.T, calls int64) {
	t.Helper()
	until := s.done.Load() + calls
	eventually(t, "calls are answered", func() bool { return s.done.Load() >= until })
	if s.failed.Load() > 0 {
		t.Fatalf("%d calls failed, first: %v", s.failed.Load(), *s.first.Load())
	}
}

// shares are the shares of the backends `of` in n further calls.
func (s *stock) shares(t *testing.T, backends map[string]*backend, n int64) map[string]float64 {
	t.Helper()
	before := map[string]int64{}
	for name, b := range backends {
		before[name] = b.calls.Load()
	}
	s.callMore(t, n)
	sum := 0.0
	shares := map[string]float64{}
	for name, b := range backends {
		shares[name] = float64(b.calls.Load() - before[name])
		sum += shares[name]
	}
	for name := range shares {
		shares[name] /= sum
	}
	return shares
}
