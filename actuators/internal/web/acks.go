package web

import (
	"context"
	"net"
	"syscall"
	"time"
)

// dial connects as http.DefaultTransport does, but acknowledges at once, so that the target need not wait (RFC 1122, 4.2.3.2).
//
// The JDK's HTTP server, which is behind Jolokia's agent, sends a response's head and body in two segments under Nagle's
// algorithm: it holds the body until the head is acknowledged. Linux delays that by 40 ms on a connection that is kept. An
// actuation takes about six requests.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	conn, err := dialer.DialContext(ctx, network, address)
	tcp, isTCP := conn.(*net.TCPConn)
	if err != nil || !isTCP {
		return conn, err
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return conn, nil
	}
	return promptly{tcp, raw}, nil
}

// promptly acknowledges the bytes that it has read before it waits for more. The kernel may reset the option at any time, so
// each read sets it again (tcp(7), TCP_QUICKACK).
type promptly struct {
	*net.TCPConn
	raw syscall.RawConn
}

func (p promptly) Read(b []byte) (int, error) {
	_ = p.raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1) // without it a response is only late
	})
	return p.TCPConn.Read(b)
}
