package access

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"sluice.dev/serve/internal/problem"
)

// Unary refuses calls that the caller may not make.
func (a *Access) Unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, err := a.check(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

// Stream checks streams as Unary checks calls. It ends a stream once a changed file no longer allows its caller.
func (a *Access) Stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	current := a.current.Load()
	ctx, err := a.check(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	if ctx == stream.Context() {
		return handler(service, stream) // callers are not authenticated
	}
	authenticated := &authenticatedStream{ServerStream: stream, ctx: ctx, access: a, method: info.FullMethod}
	authenticated.checked.Store(current)
	err = handler(service, authenticated)
	if fault := authenticated.fault.Load(); err == nil && fault != nil {
		return *fault // a handler that takes any end of its requests for the caller's
	}
	return err
}

// authenticatedStream is the stream of an authenticated caller. checked is the
// state of the files at its last check.
type authenticatedStream struct {
	grpc.ServerStream
	ctx     context.Context
	access  *Access
	method  string
	checked atomic.Pointer[contents]
	// fault is why a request was refused.
	fault atomic.Pointer[error]
}

func (k *authenticatedStream) Context() context.Context { return k.ctx }

func (k *authenticatedStream) SendMsg(message any) error {
	if err := k.checkAgain(); err != nil {
		return err
	}
	return k.ServerStream.SendMsg(message)
}

// RecvMsg checks too: a client of xDS says what it accepts and refuses at any time, without an answer.
func (k *authenticatedStream) RecvMsg(message any) error {
	if err := k.ServerStream.RecvMsg(message); err != nil {
		return err
	}
	err := k.checkAgain()
	if err != nil {
		k.fault.Store(&err)
	}
	return err
}

// checkAgain may run for a message of each direction at once.
func (k *authenticatedStream) checkAgain() error {
	current := k.access.current.Load()
	if current == k.checked.Load() {
		return nil
	}
	if _, err := k.access.check(k.ServerStream.Context(), k.method); err != nil {
		return err
	}
	k.checked.Store(current)
	return nil
}

func (a *Access) check(ctx context.Context, method string) (context.Context, error) {
	role, open := requiredRole(method)
	if open || !a.Authenticates() {
		return ctx, nil
	}
	caller, ok := a.caller(ctx)
	if !ok {
		return nil, problem.New(codes.Unauthenticated, problem.Unauthenticated,
			"send the metadata `authorization: Bearer TOKEN` with a token of the server's SLUICE_TOKENS, or a certificate that it knows")
	}
	if caller.Roles&role != role {
		return nil, problem.New(codes.PermissionDenied, problem.RoleLacking,
			caller.Name+" has the roles "+caller.Roles.String()+"; this call needs "+role.String(), "role", role.String(), "caller", caller.Name)
	}
	return With(ctx, caller), nil
}

// caller returns the caller of a known token or certificate. A token counts before a certificate.
func (a *Access) caller(ctx context.Context) (Caller, bool) {
	current := a.current.Load()
	for _, value := range metadata.ValueFromIncomingContext(ctx, "authorization") {
		if token, ok := strings.CutPrefix(value, "Bearer "); ok {
			caller, known := current.tokens[sha256.Sum256([]byte(token))]
			return caller, known
		}
	}
	remote, ok := peer.FromContext(ctx)
	if !ok {
		return Caller{}, false
	}
	security, ok := remote.AuthInfo.(credentials.TLSInfo)
	if !ok || !current.authorities.trust(security.State.VerifiedChains, time.Now()) {
		return Caller{}, false
	}
	subject := name(security.State.VerifiedChains[0][0])
	if current.clients == nil {
		return Caller{subject, Read | Report}, subject != ""
	}
	caller, known := current.clients[subject]
	return caller, known
}
