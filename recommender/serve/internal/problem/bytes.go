package problem

import (
	"context"
	"fmt"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// Registrar registers services that return INVALID_ARGUMENT for bytes that are no valid message. gRPC itself returns
// INTERNAL, which blames the server, before any code here runs.
type Registrar struct{ grpc.ServiceRegistrar }

// RegisterService implements grpc.ServiceRegistrar.
func (r Registrar) RegisterService(description *grpc.ServiceDesc, service any) {
	checked := *description
	checked.Methods = make([]grpc.MethodDesc, len(description.Methods))
	for i, method := range description.Methods {
		handler := method.Handler
		method.Handler = func(srv any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
			request := &Request{}
			into := func(to any) error { request.to = to; return decode(request) }
			return handler(srv, ctx, into, request.reportFault(interceptor))
		}
		checked.Methods[i] = method
	}
	checked.Streams = make([]grpc.StreamDesc, len(description.Streams))
	for i, stream := range description.Streams {
		handler := stream.Handler
		stream.Handler = func(srv any, s grpc.ServerStream) error {
			checked := &checkedStream{ServerStream: s}
			err := handler(srv, checked)
			if fault := checked.fault.Load(); err == nil && fault != nil {
				return *fault // a handler that takes any end of its requests for the caller's
			}
			return err
		}
		checked.Streams[i] = stream
	}
	r.ServiceRegistrar.RegisterService(&checked, service)
}

type checkedStream struct {
	grpc.ServerStream
	// fault is that of the stream's last request.
	fault atomic.Pointer[error]
}

func (c *checkedStream) RecvMsg(to any) error {
	request := &Request{to: to}
	if err := c.ServerStream.RecvMsg(request); err != nil {
		return err
	}
	if request.err != nil {
		c.fault.Store(&request.err)
	}
	return request.err
}

// MostReceived bounds a request, in bytes.
const MostReceived = 256 << 10

// Request is the target of decoding, which never fails: the service reports the fault later.
type Request struct {
	to  any
	err error
}

// reportFault calls the interceptor, and the call itself reports a fault of the request: so interceptors authenticate the
// caller first, and count the call.
func (r *Request) reportFault(interceptor grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, call grpc.UnaryHandler) (any, error) {
		checked := func(ctx context.Context, request any) (any, error) {
			if r.err != nil {
				return nil, r.err
			}
			return call(ctx, request)
		}
		if interceptor == nil {
			return checked(ctx, request)
		}
		return interceptor(ctx, request, info, checked)
	}
}

// Decode decodes by codec.
func (r *Request) Decode(codec encoding.CodecV2, data mem.BufferSlice) {
	if n := data.Len(); n > MostReceived {
		legal := fmt.Sprintf("at most %d bytes", MostReceived)
		r.err = New(codes.ResourceExhausted, TooLarge, fmt.Sprintf("the request has %d bytes; legal: %s", n, legal), "legal", legal)
		return
	}
	if codec.Unmarshal(data, r.to) != nil {
		r.err = New(codes.InvalidArgument, NotProtobuf, "the request is not a message of this method; legal: protobuf, with strings in UTF-8")
	}
}
