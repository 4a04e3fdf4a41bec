package subsets_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sluice.dev/actuators/internal/subsets"
	"sluice.dev/actuators/internal/tests/subsetstest"
)

// service sends to each connection, and to each datagram, the address at which it came, and echoes lines.
func service(t *testing.T, address netip.AddrPort) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				fmt.Fprintln(connection, address)
				for lines := bufio.NewScanner(connection); lines.Scan(); {
					fmt.Fprintln(connection, address, lines.Text())
				}
			}()
		}
	}()
	datagrams, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { datagrams.Close() })
	go func() {
		for text := make([]byte, 1500); ; {
			_, from, err := datagrams.ReadFromUDPAddrPort(text)
			if err != nil {
				return
			}
			datagrams.WriteToUDPAddrPort(fmt.Append(nil, address, "\n"), from)
		}
	}()
}

// reached connects once, and returns who answered.
func reached(network, virtual string) (netip.AddrPort, error) {
	return reachedBy(net.Dialer{Timeout: 10 * time.Second}, network, virtual)
}

func reachedBy(dialer net.Dialer, network, virtual string) (netip.AddrPort, error) {
	connection, err := dialer.Dial(network, virtual)
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(10 * time.Second))
	if network == "udp" {
		fmt.Fprintln(connection, "who")
	}
	line, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil {
		return netip.AddrPort{}, err
	}
	return netip.ParseAddrPort(strings.TrimSpace(line))
}

// spread returns the members that get so many connections in a row; none, where the first is refused.
func spread(t *testing.T, network, virtual string, connections int) subsets.Set {
	t.Helper()
	counts := map[netip.AddrPort]uint32{}
	for range connections {
		who, err := reached(network, virtual)
		if errors.Is(err, syscall.ECONNREFUSED) && len(counts) == 0 {
			return nil
		}
		if err != nil {
			t.Fatalf("after %v: %v", counts, err)
		}
		counts[who]++
	}
	var members []subsets.Member
	for address, count := range counts {
		members = append(members, subsets.Member{Address: address, Weight: count})
	}
	set, err := subsets.NewSet(members)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func four(format string) (all [4]netip.AddrPort) {
	for i := range all {
		all[i] = netip.MustParseAddrPort(fmt.Sprintf(format, i+1))
	}
	return all
}

func openNFTables(t *testing.T, change func(*subsets.NFTablesConfig)) subsets.Realizer {
	t.Helper()
	config := subsets.DefaultNFTables()
	config.Virtual = "127.9.9.9:80"
	change(&config)
	if err := config.Validate(); err != nil {
		t.Fatal(err)
	}
	realizer, err := config.Open("front-cart")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { realizer.Remove(t.Context()) })
	return realizer
}

// Real connections to a virtual address on this kernel.
func TestNFTablesContract(t *testing.T) {
	if !subsetstest.InNamespace(t) {
		return
	}
	for name, tt := range map[string]struct{ virtual, members string }{
		"ipv4": {"127.9.9.9:80", "127.0.1.%d:8080"}, "ipv6": {"[::1]:80", "[::1]:900%d"},
	} {
		t.Run(name, func(t *testing.T) {
			members := four(tt.members)
			for _, address := range members {
				service(t, address)
			}
			subsetstest.TestContract(t, func(t *testing.T) subsetstest.Fixture {
				namespace := filepath.Join(t.TempDir(), "namespace")
				if err := os.Symlink("/proc/self/ns/net", namespace); err != nil {
					t.Fatal(err)
				}
				realizer := openNFTables(t, func(c *subsets.NFTablesConfig) {
					c.Virtual, c.NetNS = tt.virtual, namespace
				})
				t.Cleanup(func() { dropTable("sluice-front-cart") })
				return subsetstest.Fixture{
					Realizer: realizer, Members: members,
					InForce: func() subsets.Set { return spread(t, "tcp", tt.virtual, 60) }, // of each sum up to 6 a multiple
					Look: func(either ...subsets.Set) error {
						who, err := reached("tcp", tt.virtual)
						if err == nil && !slices.ContainsFunc(slices.Concat(either...), func(m subsets.Member) bool { return m.Address == who }) {
							err = fmt.Errorf("%s is of neither", who)
						}
						return err
					},
					Lose:  func() { dropTable("sluice-front-cart") },
					Break: func() { os.Remove(namespace) },
				}
			})
		})
	}
}

func dropTable(name string) {
	kernel := &nftables.Conn{}
	kernel.DelTable(&nftables.Table{Name: name, Family: nftables.TableFamilyINet})
	kernel.Flush()
}

func write(t *testing.T, realizer subsets.Realizer, members ...subsets.Member) subsets.Set {
	t.Helper()
	set, err := subsets.NewSet(members)
	if err == nil {
		err = realizer.Write(t.Context(), set)
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A connection stays with its container, also when that leaves the subset.
func TestNFTablesLeavesConnections(t *testing.T) {
	if !subsetstest.InNamespace(t) {
		return
	}
	members := four("127.0.1.%d:8080")
	for _, address := range members {
		service(t, address)
	}
	realizer := openNFTables(t, func(*subsets.NFTablesConfig) {})
	write(t, realizer, subsets.Member{Address: members[0], Weight: 1})
	held, err := net.Dial("tcp", "127.9.9.9:80")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	held.SetDeadline(time.Now().Add(10 * time.Second))
	lines := bufio.NewReader(held)
	lines.ReadString('\n')
	still := func(when string) {
		t.Helper()
		fmt.Fprintln(held, when)
		if line, err := lines.ReadString('\n'); err != nil || line != fmt.Sprintln(members[0], when) {
			t.Errorf("%s: %q, %v", when, line, err)
		}
	}
	then := write(t, realizer, subsets.Member{Address: members[1], Weight: 1})
	if got := spread(t, "tcp", "127.9.9.9:80", 10); !got.Equal(then) {
		t.Errorf("new connections: %s, want %s", got, then)
	}
	still("after another set")
	if err := realizer.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	still("after it is removed")
	if who, err := reached("tcp", members[2].String()); err != nil || who != members[2] {
		t.Errorf("another address: %s, %v", who, err)
	}
}

// A table has the rules of the present configuration, and none of an earlier one.
func TestNFTablesOfAnotherConfiguration(t *testing.T) {
	if !subsetstest.InNamespace(t) {
		return
	}
	member := subsets.Member{Address: four("127.0.1.%d:8080")[0], Weight: 1}
	for _, change := range []func(*subsets.NFTablesConfig){
		func(c *subsets.NFTablesConfig) { c.From = "10.1.2.3" }, func(c *subsets.NFTablesConfig) { c.Virtual = "127.9.9.9:81" },
		func(c *subsets.NFTablesConfig) { c.Protocol = "udp" },
	} {
		before, now := openNFTables(t, change), openNFTables(t, func(*subsets.NFTablesConfig) {})
		write(t, before, member)
		if got, err := now.Read(t.Context()); err != nil || len(got) != 0 {
			t.Errorf("read %s, %v, want nothing of another configuration", got, err)
		}
		set := write(t, now, member)
		if got, err := now.Read(t.Context()); err != nil || !got.Equal(set) {
			t.Errorf("read %s, %v, want %s", got, err, set)
		}
		if got, err := before.Read(t.Context()); err != nil || len(got) != 0 {
			t.Errorf("of the configuration before %s is left, %v", got, err)
		}
	}
}

// Datagrams from one port stay with one container, until none came for as long as the kernel remembers.
func TestNFTablesTakesDatagrams(t *testing.T) {
	if !subsetstest.InNamespace(t) {
		return
	}
	members := four("127.0.1.%d:8053")
	for _, address := range members {
		service(t, address)
	}
	realizer := openNFTables(t, func(c *subsets.NFTablesConfig) { c.Virtual, c.Protocol = "127.9.9.9:53", "udp" })
	set := write(t, realizer, subsets.Member{Address: members[1], Weight: 2}, subsets.Member{Address: members[2], Weight: 1})
	counts := map[netip.AddrPort]uint32{}
	for port := range 12 {
		for range 2 {
			dialer := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 20000 + port}}
			who, err := reachedBy(dialer, "udp", "127.9.9.9:53")
			if err != nil {
				t.Fatal(err)
			}
			counts[who]++
		}
	}
	if len(counts) != 2 || counts[set[0].Address] != 16 || counts[set[1].Address] != 8 {
		t.Errorf("12 ports, 2 datagrams each: %v, want those of 8 and of 4", counts)
	}
}

func TestNFTablesTakesManyMembers(t *testing.T) {
	if !subsetstest.InNamespace(t) {
		return
	}
	for _, tt := range []struct{ virtual, format string }{{"127.9.9.9:80", "10.0.%d.%d:80"}, {"[::1]:80", "[2001:db8::%d:%d]:80"}} {
		realizer := openNFTables(t, func(c *subsets.NFTablesConfig) { c.Virtual = tt.virtual })
		var members []subsets.Member
		for i := range subsets.MaxSlots {
			members = append(members, subsets.Member{Address: netip.MustParseAddrPort(fmt.Sprintf(tt.format, i/200, i%200)), Weight: 1})
		}
		set := write(t, realizer, members...)
		if got, err := realizer.Read(t.Context()); err != nil || !got.Equal(set) {
			t.Errorf("read %d members of %d: %v", len(got), len(set), err)
		}
	}
}

// A caller in another namespace, whose connections come through this one, is identified by its address; others are left
// alone.
func TestNFTablesForAContainerOfThisHost(t *testing.T) {
	if !subsetstest.InNamespace(t) {
		return
	}
	members := four("10.77.0.%d:8080")
	lo, _ := netlink.LinkByName("lo")
	for _, tt := range members {
		if err := netlink.AddrAdd(lo, &netlink.Addr{IPNet: &net.IPNet{IP: net.IP(tt.Addr().AsSlice()), Mask: net.CIDRMask(32, 32)}}); err != nil {
			t.Fatal(err)
		}
		service(t, tt)
	}
	const virtual = "10.96.0.12:80"
	in := container(t, "10.78.0.1/24", "10.78.0.2/24", "10.78.0.3/24")
	realizer := openNFTables(t, func(c *subsets.NFTablesConfig) { c.Virtual, c.From = virtual, "10.78.0.2" })
	set := write(t, realizer, subsets.Member{Address: members[0], Weight: 2}, subsets.Member{Address: members[3], Weight: 1})
	in(func() {
		if got := spread(t, "tcp", virtual, 12); !got.Equal(set) {
			t.Errorf("the caller reaches %s, want %s", got, set)
		}
		another := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(10, 78, 0, 3)}, Timeout: 300 * time.Millisecond}
		if who, err := reachedBy(another, "tcp", virtual); err == nil {
			t.Errorf("another caller is given %s, too", who)
		}
	})
}

// container is a namespace with a cable to this one: first the address of this end, then those of the other. The returned
// function runs something in it.
func container(t *testing.T, here string, there ...string) (in func(do func())) {
	t.Helper()
	work, ready := make(chan func(), 1), make(chan int)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Error(err)
		}
		namespace, err := unix.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()), unix.O_RDONLY, 0)
		if err != nil {
			t.Error(err)
		}
		ready <- namespace
		for do := range work {
			do()
		}
	}()
	t.Cleanup(func() { close(work) })
	namespace := <-ready
	in = func(do func()) {
		done := make(chan struct{})
		work <- func() { defer close(done); do() }
		<-done
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name = "host"
	check(netlink.LinkAdd(&netlink.Veth{LinkAttrs: attributes, PeerName: "eth0", PeerNamespace: netlink.NsFd(namespace)}))
	up := func(name string, addresses ...string) error {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		for _, text := range addresses {
			address, err := netlink.ParseAddr(text)
			if err = errors.Join(err, netlink.AddrAdd(link, address)); err != nil {
				return err
			}
		}
		return netlink.LinkSetUp(link)
	}
	check(up("host", here))
	in(func() {
		if err := up("eth0", there...); err != nil {
			t.Error(err)
			return
		}
		gateway, _ := netlink.ParseAddr(here)
		if err := netlink.RouteAdd(&netlink.Route{Gw: gateway.IP}); err != nil {
			t.Error(err)
		}
	})
	return in
}
