package server

import (
	"net"
	"sync"
	"sync/atomic"
)

// bounded is a listener that closes a connection at once while `most` others are open: whoever may connect makes the server
// hold some 16 kB a connection, and a listener that did not accept would make clients wait instead of trying another server.
type bounded struct {
	net.Listener
	most          int64
	open, refused atomic.Int64
}

func (b *bounded) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if b.open.Add(1) <= b.most {
			return &counted{Conn: conn, closed: sync.OnceFunc(func() { b.open.Add(-1) })}, nil
		}
		b.open.Add(-1)
		b.refused.Add(1)
		_ = conn.Close()
	}
}

// counted is a connection that makes room for another one when it is closed.
type counted struct {
	net.Conn
	closed func()
}

func (c *counted) Close() error {
	c.closed()
	return c.Conn.Close()
}
