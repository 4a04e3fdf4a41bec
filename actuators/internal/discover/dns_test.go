package discover

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// zone answers as a cluster's DNS does for headless services, over UDP and TCP on one port of the loopback interface. An
// answer that is too long for a datagram is cut over UDP, and complete over TCP.
type zone struct {
	hosts map[string][]netip.Addr
	ports map[string][]dnsmessage.SRVResource
}

const longest = 512

func (z zone) answer(t *testing.T, query []byte, most int) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(query)
	if err != nil {
		t.Errorf("parse a query: %v", err)
		return nil
	}
	question, err := parser.Question()
	if err != nil {
		t.Errorf("parse a question: %v", err)
		return nil
	}
	name := question.Name.String()
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: header.ID, Response: true, Authoritative: true, RecursionAvailable: true},
		Questions: []dnsmessage.Question{question},
	}
	if len(z.hosts[name])+len(z.ports[name]) == 0 {
		m.RCode = dnsmessage.RCodeNameError
	}
	record := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: 1}
	for _, host := range z.hosts[name] {
		if question.Type == dnsmessage.TypeA && host.Is4() {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: record, Body: &dnsmessage.AResource{A: host.As4()}})
		}
	}
	for _, port := range z.ports[name] {
		if question.Type == dnsmessage.TypeSRV {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: record, Body: &port})
		}
	}
	packed, err := m.Pack()
	if err == nil && len(packed) > most {
		m.Answers, m.Truncated = nil, true
		packed, err = m.Pack()
	}
	if err != nil {
		t.Errorf("pack an answer: %v", err)
	}
	return packed
}

// serve returns a resolver that queries z alone.
func (z zone) serve(t *testing.T) *net.Resolver {
	stream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stream.Close() })
	address := stream.Addr().String()
	datagrams, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Skipf("the port of the stream is taken for datagrams: %v", err)
	}
	t.Cleanup(func() { datagrams.Close() })
	go func() {
		query := make([]byte, 4096)
		for {
			n, from, err := datagrams.ReadFrom(query)
			if err != nil {
				return
			}
			datagrams.WriteTo(z.answer(t, query[:n], longest), from)
		}
	}()
	go func() {
		for {
			connection, err := stream.Accept()
			if err != nil {
				return
			}
			var length [2]byte
			io.ReadFull(connection, length[:])
			query := make([]byte, binary.BigEndian.Uint16(length[:]))
			io.ReadFull(connection, query)
			answer := z.answer(t, query, 65535)
			connection.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
			connection.Close()
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}}
}

func TestDNSOfARealServer(t *testing.T) {
	many := make([]netip.Addr, 60) // more than a datagram holds
	for i := range many {
		many[i] = netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})
	}
	port := func(n uint16, target string) dnsmessage.SRVResource {
		return dnsmessage.SRVResource{Port: n, Target: dnsmessage.MustNewName(target)}
	}
	z := zone{
		hosts: map[string][]netip.Addr{"cart.shop.svc.": many},
		ports: map[string][]dnsmessage.SRVResource{
			"_jolokia._tcp.cart.shop.svc.": {port(8778, "cart-1.cart.shop.svc."), port(8778, "cart-0.cart.shop.svc.")},
		},
	}
	resolver := z.serve(t)
	endpoints, err := DNS{DNSConfig{"cart.shop.svc.", 8778}, resolver}.Find(t.Context())
	if err != nil || len(endpoints) != len(many) || endpoints[0].Address != "10.0.0.0:8778" {
		t.Errorf("%d instances, %v, want %d", len(endpoints), err, len(many))
	}
	endpoints, err = DNS{DNSConfig{"_jolokia._tcp.cart.shop.svc.", 0}, resolver}.Find(t.Context())
	if want := "[{cart-0.cart.shop.svc:8778 cart-0.cart.shop.svc} {cart-1.cart.shop.svc:8778 cart-1.cart.shop.svc}]"; err != nil || listing(endpoints) != want {
		t.Errorf("%s, %v, want %s", listing(endpoints), err, want)
	}
	// A name that is gone is an error, so that its instances stay.
	if endpoints, err := (DNS{DNSConfig{"gone.shop.svc.", 80}, resolver}).Find(t.Context()); err == nil {
		t.Errorf("found %s under a name that is not there", listing(endpoints))
	}
}
