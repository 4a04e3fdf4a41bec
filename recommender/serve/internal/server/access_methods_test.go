package server_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	"sluice.dev/serve/internal/journaltest"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// empty calls a method with a message without fields, and returns the code of its first answer; OK for a stream that waits.
func (r *running) empty(t *testing.T, ctx context.Context, method protoreflect.MethodDescriptor) codes.Code {
	t.Helper()
	path := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if !method.IsStreamingClient() && !method.IsStreamingServer() {
		return status.Code(r.link.Invoke(ctx, path, &[]byte{}, &[]byte{}, grpc.ForceCodecV2(raw{})))
	}
	stream, err := r.link.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, path, grpc.ForceCodecV2(raw{}))
	must(t, err)
	_ = stream.SendMsg(&[]byte{})
	return status.Code(stream.RecvMsg(&[]byte{}))
}

// TestNoMethodAnswersWhoMayNot calls every method that the server lists: of pools, subsets, tuning, xDS and reflection. Health
// alone is open.
func TestNoMethodAnswersWhoMayNot(t *testing.T) {
	journal := journaltest.New(t, 1)
	file := filepath.Join(t.TempDir(), "tokens")
	tokens := readToken + " viewer read\n" + reportToken + " actuator report\n" + operateToken + " ann operate\n"
	must(t, os.WriteFile(file, []byte(tokens), 0o600))
	r := start(t, journal, options{lookup: func(name string) string { return map[string]string{"SLUICE_TOKENS": file}[name] }}).ready(t)
	must(t, os.WriteFile(file, []byte(tokens+oldToken+" all\n"), 0o600))
	eventually(t, "the token that may read", func() bool {
		_, err := r.client.ListPoolSizes(with(oldToken), &poolsv1.ListPoolSizesRequest{})
		return err == nil
	})
	methods := r.methodsAs(t, with(oldToken))
	must(t, os.WriteFile(file, []byte(tokens), 0o600))
	eventually(t, "it is rotated", func() bool {
		_, err := r.client.ListPoolSizes(with(oldToken), &poolsv1.ListPoolSizesRequest{})
		return status.Code(err) == codes.Unauthenticated
	})
	authorization := func(values ...string) context.Context {
		ctx := context.Background()
		for _, value := range values {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", value)
		}
		return ctx
	}
	unknown := map[string]context.Context{
		"no token": context.Background(), "a rotated token": with(oldToken), "another token": with("guess-guess-guess-guess"),
		"an empty token": authorization("Bearer "), "a part": with(readToken[:len(readToken)-1]), "more": with(readToken + " "),
		"another scheme": authorization("Basic " + readToken), "no scheme": authorization(readToken),
		"another, then a known one": authorization("Bearer guess-guess-guess-guess", "Bearer "+readToken),
		"capitals":                  with(strings.ToUpper(readToken)), "by another name": metadata.AppendToOutgoingContext(context.Background(), "x-authorization", "Bearer "+readToken),
	}
	tokensOfRoles := []string{readToken, reportToken, operateToken}
	closed := 0
	for _, method := range methods {
		if method.Parent().FullName() == "grpc.health.v1.Health" {
			continue
		}
		closed++
		for name, ctx := range unknown {
			if code := r.empty(t, ctx, method); code != codes.Unauthenticated {
				t.Errorf("%s with %s: %v", method.FullName(), name, code)
			}
		}
		may := 0
		for _, token := range tokensOfRoles {
			if code := r.empty(t, with(token), method); code == codes.Unauthenticated {
				t.Errorf("%s with %s: %v", method.FullName(), token, code)
			} else if code != codes.PermissionDenied {
				may++
			}
		}
		if may != 1 {
			t.Errorf("%s is for %d roles of three", method.FullName(), may)
		}
	}
	if closed < 25 {
		t.Fatalf("only %d methods", closed)
	}
}

// A client of xDS sends requests of its own accord, and a refusal has no answer. What it says once its token is gone is not
// reported under its name.
func TestAStreamOfXDSReportsNothingAfterItsToken(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Connect([]*subsetsv1.ServiceContainers{journaltest.Containers("b", "b-1")}, journaltest.Subset(subsetOf("a", "a-1", "b"), 1, "b-1"))
	file := filepath.Join(t.TempDir(), "tokens")
	must(t, os.WriteFile(file, []byte(readToken+" viewer read\n"), 0o600))
	r := start(t, journal, options{lookup: func(name string) string { return map[string]string{"SLUICE_TOKENS": file}[name] }}).ready(t)
	stream, err := discovery.NewAggregatedDiscoveryServiceClient(r.link).StreamAggregatedResources(with(readToken))
	must(t, err)
	request := &discovery.DiscoveryRequest{Node: &core.Node{Id: "a~a-1"}, TypeUrl: assignments, ResourceNames: []string{"b"}}
	must(t, stream.Send(request))
	got, err := stream.Recv()
	must(t, err)
	must(t, os.WriteFile(file, []byte(operateToken+" ann operate\n"), 0o600))
	eventually(t, "the token is gone", func() bool {
		_, err := r.client.ListPoolSizes(with(readToken), &poolsv1.ListPoolSizesRequest{})
		return status.Code(err) == codes.Unauthenticated
	})
	request.ResponseNonce, request.ErrorDetail = got.GetNonce(), &statusv3.Status{Code: 3, Message: "refused"}
	must(t, stream.Send(request))
	refused(t, receivedSoon(t, stream), codes.Unauthenticated)
	if reports := journal.Read(t, journal.Reports); len(reports) != 0 {
		t.Errorf("%d reports", len(reports))
	}
}

// receivedSoon is the error of the next answer, and Canceled where none comes.
func receivedSoon(t *testing.T, stream discovery.AggregatedDiscoveryService_StreamAggregatedResourcesClient) error {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := stream.Recv()
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-time.After(5 * time.Second):
		return status.Error(codes.Canceled, "no answer in 5 s")
	}
}
