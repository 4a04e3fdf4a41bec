package problem

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Registrar registers services whose callers are told what is wrong with bytes that are no message: by itself gRPC
// answers INTERNAL, which says that the server is at fault.
type Registrar struct{ grpc.ServiceRegistrar }

// RegisterService implements grpc.ServiceRegistrar.
func (r Registrar) RegisterService(description *grpc.ServiceDesc, service any) {
	own := *description
	own.Methods = make([]grpc.MethodDesc, len(description.Methods))
	for i, method := range description.Methods {
		handler := method.Handler
		method.Handler = func(srv any, ctx context.Context, decode func(any) error, by grpc.UnaryServerInterceptor) (any, error) {
			return handler(srv, ctx, func(to any) error { return Received(decode(to)) }, by)
		}
		own.Methods[i] = method
	}
	own.Streams = make([]grpc.StreamDesc, len(description.Streams))
	for i, stream := range description.Streams {
		handler := stream.Handler
		stream.Handler = func(srv any, s grpc.ServerStream) error { return handler(srv, checked{s}) }
		own.Streams[i] = stream
	}
	r.ServiceRegistrar.RegisterService(&own, service)
}

type checked struct{ grpc.ServerStream }

func (c checked) RecvMsg(to any) error { return Received(c.ServerStream.RecvMsg(to)) }

// Received is what the caller is told of an error in receiving its message.
func Received(err error) error {
	switch status.Code(err) {
	case codes.Internal:
		if !strings.Contains(err.Error(), "unmarshal") {
			return err
		}
		return Of(codes.InvalidArgument, NotProtobuf, "the request is no message of this method; legal: protobuf, with strings in UTF-8")
	case codes.ResourceExhausted:
		return Of(codes.ResourceExhausted, TooLarge, status.Convert(err).Message())
	default:
		return err
	}
}
