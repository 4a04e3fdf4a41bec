package web

import (
	"io"
	"net"
	"syscall"
	"testing"
)

func TestReadBytesAreAcknowledgedAtOnceOnAKeptConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		if server, err := listener.Accept(); err == nil {
			defer server.Close()
			_, _ = io.Copy(server, server)
		}
	}()
	conn, err := dial(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for n := range 30 { // question and answer: the kernel then delays acknowledgements, to send them with the next question
		if _, err := conn.Write([]byte("?")); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if !acknowledgesAtOnce(t, conn.(syscall.Conn)) {
			t.Fatalf("question %d: acknowledgements are delayed", n)
		}
	}
}

func acknowledgesAtOnce(t *testing.T, conn syscall.Conn) bool {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var at int
	if controlErr := raw.Control(func(fd uintptr) {
		at, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK)
	}); controlErr != nil || err != nil {
		t.Fatal(controlErr, err)
	}
	return at == 1
}
