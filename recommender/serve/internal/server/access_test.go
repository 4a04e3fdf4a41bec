package server_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/problem"

	poolsv1 "sluice.dev/api/pools/v1"
)

func with(token string) context.Context {
	return metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token)
}

const (
	readToken    = "read-read-read-read"
	reportToken  = "report-report-report"
	operateToken = "operate-operate-operate"
	oldToken     = "0123456789abcdef"
)

func TestTokensHaveRolesAndNames(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	file := filepath.Join(t.TempDir(), "tokens")
	content := "# who may\n" + readToken + " viewer read\n" + reportToken + " actuator read,report\n" + operateToken + " ann operate\n" + oldToken + "\n"
	must(t, os.WriteFile(file, []byte(content), 0o600))
	r := start(t, journal, options{lookup: func(name string) string { return map[string]string{"SLUICE_TOKENS": file}[name] }}).ready(t)
	get := func(ctx context.Context) error {
		_, err := r.client.GetPoolSize(ctx, &poolsv1.GetPoolSizeRequest{Pool: cart.Proto()})
		return err
	}
	tell := func(ctx context.Context) error {
		_, err := r.client.ReportActuation(ctx, report(func(*poolsv1.Actuation) {}))
		return err
	}
	pause := func(ctx context.Context) error {
		_, err := r.client.PausePool(ctx, &poolsv1.PausePoolRequest{Pool: cart.Proto(), By: "somebody else"})
		return err
	}
	watch := func(ctx context.Context) error {
		stream, err := r.client.WatchPoolSizes(ctx, &ask{})
		must(t, err)
		_, err = stream.Recv()
		return err
	}
	for _, tt := range []struct {
		token                   string
		get, watch, tell, pause codes.Code
	}{
		{readToken, codes.OK, codes.OK, codes.PermissionDenied, codes.PermissionDenied},
		{reportToken, codes.OK, codes.OK, codes.OK, codes.PermissionDenied},
		{operateToken, codes.PermissionDenied, codes.PermissionDenied, codes.PermissionDenied, codes.OK},
		{oldToken, codes.OK, codes.OK, codes.OK, codes.OK},
		{"guess-guess-guess-guess", codes.Unauthenticated, codes.Unauthenticated, codes.Unauthenticated, codes.Unauthenticated},
	} {
		ctx := with(tt.token)
		got := []codes.Code{status.Code(get(ctx)), status.Code(watch(ctx)), status.Code(tell(ctx)), status.Code(pause(ctx))}
		want := []codes.Code{tt.get, tt.watch, tt.tell, tt.pause}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", tt.token, got, want)
				break
			}
		}
	}
	assertError(t, get(context.Background()), codes.Unauthenticated, problem.Unauthenticated, "")
	assertError(t, tell(with(readToken)), codes.PermissionDenied, problem.RoleLacking, "")
	names := map[string]int{}
	for _, tt := range r.reports(t, journal) {
		names[tt.GetBy()]++
	}
	if names["actuator"] != 1 || names["ann"] != 1 || names["somebody else"] != 0 || len(names) != 3 {
		t.Error("who did it is the identity, and no field:", names)
	}
	_, err := healthv1.NewHealthClient(r.link).Check(t.Context(), &healthv1.HealthCheckRequest{})
	must(t, err) // probes carry no token
	must(t, os.WriteFile(file, []byte("another-another-another new read\n"), 0o600))
	eventually(t, "the new token", func() bool { return get(with("another-another-another")) == nil })
	refused(t, get(with(readToken)), codes.Unauthenticated)
	must(t, os.WriteFile(file, []byte("short\n"), 0o600))
	time.Sleep(50 * time.Millisecond)
	must(t, get(with("another-another-another"))) // what cannot be used changes nothing
}

// ended reads a watch to its end.
func ended(stream poolsv1.PoolSizeService_WatchPoolSizesClient) error {
	for {
		if _, err := stream.Recv(); err != nil {
			return err
		}
	}
}

func TestAWatchEndsWithItsToken(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	file := filepath.Join(t.TempDir(), "tokens")
	must(t, os.WriteFile(file, []byte(readToken+" viewer read\n"+oldToken+"\n"), 0o600))
	r := start(t, journal, options{
		every:  20 * time.Millisecond,
		lookup: func(name string) string { return map[string]string{"SLUICE_TOKENS": file}[name] },
	}).ready(t)
	watch := func(token string) poolsv1.PoolSizeService_WatchPoolSizesClient {
		stream, err := r.client.WatchPoolSizes(with(token), &ask{})
		must(t, err)
		_, err = stream.Recv()
		must(t, err)
		return stream
	}
	viewer, other := watch(readToken), watch(oldToken)
	must(t, os.WriteFile(file, []byte(readToken+" viewer report\n"+oldToken+"\n"), 0o600))
	assertError(t, ended(viewer), codes.PermissionDenied, problem.RoleLacking, "")
	for range 5 {
		_, err := other.Recv()
		must(t, err) // nothing changed for it
	}
	must(t, os.WriteFile(file, []byte(readToken+"\n"), 0o600))
	assertError(t, ended(other), codes.Unauthenticated, problem.Unauthenticated, "")
}

func TestWhoAsksIsAskedBeforeWhat(t *testing.T) {
	journal := journaltest.New(t, 1)
	file := filepath.Join(t.TempDir(), "tokens")
	must(t, os.WriteFile(file, []byte(readToken+" viewer read\n"), 0o600))
	r := start(t, journal, options{lookup: func(name string) string { return map[string]string{"SLUICE_TOKENS": file}[name] }})
	call := func(ctx context.Context) error {
		return r.link.Invoke(ctx, "/sluice.pools.v1.PoolSizeService/GetPoolSize", &[]byte{0xff}, &[]byte{}, grpc.ForceCodecV2(raw{}))
	}
	assertError(t, call(t.Context()), codes.Unauthenticated, problem.Unauthenticated, "")
	assertError(t, call(with(readToken)), codes.InvalidArgument, problem.NotProtobuf, "")
}

func TestHealthAndReflection(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Delete(t)
	r := start(t, journal, options{})
	ask := &healthv1.HealthCheckRequest{Service: "sluice.pools.v1.PoolSizeService"}
	got, err := healthv1.NewHealthClient(r.link).Check(t.Context(), ask)
	must(t, err)
	if got.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Error("it serves before it has read", got)
	}
	journal.Create(t, 1)
	eventually(t, "it serves", func() bool {
		got, err := healthv1.NewHealthClient(r.link).Check(t.Context(), ask)
		return err == nil && got.GetStatus() == healthv1.HealthCheckResponse_SERVING
	})
	one, err := reflectionv1.NewServerReflectionClient(r.link).ServerReflectionInfo(t.Context())
	must(t, err)
	must(t, one.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}))
	listed, err := one.Recv()
	must(t, err)
	if len(listed.GetListServicesResponse().GetService()) != 8 {
		t.Error(listed)
	}
	two, err := reflectionv1alpha.NewServerReflectionClient(r.link).ServerReflectionInfo(t.Context())
	must(t, err)
	must(t, two.Send(&reflectionv1alpha.ServerReflectionRequest{MessageRequest: &reflectionv1alpha.ServerReflectionRequest_ListServices{}}))
	_, err = two.Recv()
	must(t, err)
}
