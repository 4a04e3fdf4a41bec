package subsets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/userdata"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// ours is the number of rules of a subset.
const ours = 2

// netlinkTime bounds a response of the kernel, which normally comes at once.
const netlinkTime = 5 * time.Second

var protocols = map[string]byte{"tcp": unix.IPPROTO_TCP, "udp": unix.IPPROTO_UDP}

// nfTables is one table of this kernel, sluice-NAME of family inet, with one chain of two rules. For members with the weights
// 2 and 1, as nft would write them:
//
//	chain output {
//		type nat hook output priority dstnat; policy accept;
//		ip daddr 10.96.0.12 tcp dport 8080 counter dnat ip to numgen inc mod 3 map {
//			0 : 10.0.0.1 . 80, 1 : 10.0.0.2 . 80, 2 : 10.0.0.1 . 80 }
//		ip daddr 10.96.0.12 tcp dport 8080 counter dnat ip to 10.0.0.1:80
//	}
//
// The rules change in one transaction. A packet that is within the first rule when the transaction ends finds the elements of
// its map gone, and passes the rule: the second rule then gives it a member. NAT decides for the first packet of a
// connection; the later ones follow it, also after the rules changed.
type nfTables struct {
	name     string
	virtual  netip.AddrPort
	from     netip.Addr
	protocol byte
	netns    string
}

// transactions runs the transactions of this process one at a time: the library counts its maps across all of them.
var transactions sync.Mutex

// Read implements Realizer.
func (n *nfTables) Read(ctx context.Context) (set Set, err error) {
	err = n.with(ctx, func(kernel *nftables.Conn) error {
		_, chain := n.place()
		rules, err := kernel.GetRules(chain.Table, chain)
		if errors.Is(err, unix.ENOENT) || err == nil && len(rules) != ours {
			return nil // no table, or the chain that Remove leaves, or rules that are not Sluice's
		}
		if err != nil {
			return err
		}
		set, err = n.inForce(kernel, rules[0])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read table %s: %w", n.table(), err)
	}
	return set, nil
}

// Write implements Realizer.
func (n *nfTables) Write(ctx context.Context, set Set) error {
	if len(set) == 0 {
		return errors.New("write the subset: it is empty")
	}
	for _, m := range set {
		if m.Address.Addr().Is4() != n.virtual.Addr().Is4() {
			return fmt.Errorf("write the subset: %s is not of the family of %s", m.Address, n.virtual)
		}
	}
	err := n.with(ctx, func(kernel *nftables.Conn) error {
		table, chain := n.place()
		all, err := kernel.ListChainsOfTableFamily(table.Family)
		if err != nil {
			return err
		}
		kernel.AddTable(table)
		kernel.AddChain(chain)
		kernel.FlushChain(chain)
		for _, other := range all {
			if other.Table.Name == table.Name && other.Name != chain.Name { // from another configuration
				kernel.FlushChain(other)
				kernel.DelChain(other)
			}
		}
		turns := &nftables.Set{Table: table, Anonymous: true, Constant: true, IsMap: true, KeyType: nftables.TypeInteger, DataType: n.dataType()}
		if err := kernel.AddSet(turns, n.elements(set)); err != nil {
			return err
		}
		rule := func(comment string, gives []expr.Any) {
			kernel.AddRule(&nftables.Rule{
				Table: table, Chain: chain, Exprs: append(n.matches(), gives...),
				UserData: userdata.AppendString(nil, userdata.TypeComment, comment),
			})
		}
		rule("sluice: the next turn's member", n.gives(turns, set.Slots()))
		rule("sluice: while the rule above is replaced", n.givesFirst(set))
		return kernel.Flush()
	})
	if err != nil {
		return fmt.Errorf("write table %s: %w", n.table(), err)
	}
	return nil
}

// Remove implements Realizer. It leaves a rule that only matches a connection's state: without any rule that needs them, the
// kernel forgets the connections of a namespace, and resets the open ones.
func (n *nfTables) Remove(ctx context.Context) error {
	err := n.with(ctx, func(kernel *nftables.Conn) error {
		_, chain := n.place()
		rules, err := kernel.GetRules(chain.Table, chain)
		if errors.Is(err, unix.ENOENT) || err == nil && len(rules) < ours {
			return nil
		}
		if err != nil {
			return err
		}
		kernel.FlushChain(chain)
		kernel.AddRule(&nftables.Rule{
			Table: chain.Table, Chain: chain, Exprs: []expr.Any{&expr.Ct{Key: expr.CtKeySTATE, Register: unix.NFT_REG_1}},
			UserData: userdata.AppendString(nil, userdata.TypeComment, "sluice: keeps open connections"),
		})
		return kernel.Flush()
	})
	if err != nil {
		return fmt.Errorf("empty table %s: %w", n.table(), err)
	}
	return nil
}

// with opens netlink in the namespace for one transaction, or one reading.
func (n *nfTables) with(ctx context.Context, do func(*nftables.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	until := time.Now().Add(netlinkTime)
	if end, ok := ctx.Deadline(); ok && end.Before(until) {
		until = end
	}
	options := []nftables.ConnOption{nftables.WithSockOptions(func(c *netlink.Conn) error { return c.SetDeadline(until) })}
	if n.netns != "" {
		namespace, err := os.Open(n.netns)
		if err != nil {
			return err
		}
		defer namespace.Close()
		options = append(options, nftables.WithNetNSFd(int(namespace.Fd())))
	}
	kernel, err := nftables.New(options...)
	if err != nil {
		return err
	}
	transactions.Lock()
	defer transactions.Unlock()
	return do(kernel)
}

func (n *nfTables) table() string { return "sluice-" + n.name }

// place is the table, and the chain that sees connections to the virtual address: outgoing ones, or forwarded ones.
func (n *nfTables) place() (*nftables.Table, *nftables.Chain) {
	table := &nftables.Table{Name: n.table(), Family: nftables.TableFamilyINet}
	accept := nftables.ChainPolicyAccept
	chain := &nftables.Chain{
		Name: "output", Table: table, Type: nftables.ChainTypeNAT, Hooknum: nftables.ChainHookOutput,
		Priority: nftables.ChainPriorityNATDest, Policy: &accept,
	}
	if n.from.IsValid() {
		chain.Name, chain.Hooknum = "prerouting", nftables.ChainHookPrerouting
	}
	return table, chain
}

// family is the address family, and the offsets of source and destination in an IP packet.
func (n *nfTables) family() (proto byte, source, destination uint32) {
	if n.virtual.Addr().Is4() {
		return unix.NFPROTO_IPV4, 12, 16
	}
	return unix.NFPROTO_IPV6, 8, 24
}

// matches are the expressions that select the rule's connections.
func (n *nfTables) matches() []expr.Any {
	proto, source, destination := n.family()
	equal := func(data []byte) expr.Any { return &expr.Cmp{Op: expr.CmpOpEq, Register: unix.NFT_REG_1, Data: data} }
	address := func(at uint32, is netip.Addr) []expr.Any {
		data := is.AsSlice()
		return []expr.Any{
			&expr.Payload{DestRegister: unix.NFT_REG_1, Base: expr.PayloadBaseNetworkHeader, Offset: at, Len: uint32(len(data))}, equal(data),
		}
	}
	all := []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: unix.NFT_REG_1}, equal([]byte{proto}),
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: unix.NFT_REG_1}, equal([]byte{n.protocol}),
	}
	if n.from.IsValid() {
		all = append(all, address(source, n.from)...)
	}
	all = append(all, address(destination, n.virtual.Addr())...)
	return append(all,
		&expr.Payload{DestRegister: unix.NFT_REG_1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		equal(binaryutil.BigEndian.PutUint16(n.virtual.Port())))
}

// portRegister is the register behind the address in NFT_REG_1.
func (n *nfTables) portRegister() uint32 {
	if n.virtual.Addr().Is4() {
		return unix.NFT_REG32_01
	}
	return unix.NFT_REG_2
}

// givesFirst makes the first member the destination.
func (n *nfTables) givesFirst(set Set) []expr.Any {
	proto, _, _ := n.family()
	to := set[0].Address
	return []expr.Any{
		&expr.Counter{},
		&expr.Immediate{Register: unix.NFT_REG_1, Data: to.Addr().AsSlice()},
		&expr.Immediate{Register: n.portRegister(), Data: binaryutil.BigEndian.PutUint16(to.Port())},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: uint32(proto), RegAddrMin: unix.NFT_REG_1, RegProtoMin: n.portRegister()},
	}
}

// gives makes the next turn's member the destination.
func (n *nfTables) gives(turns *nftables.Set, slots uint32) []expr.Any {
	proto, _, _ := n.family()
	return []expr.Any{
		&expr.Counter{},
		&expr.Numgen{Register: unix.NFT_REG_1, Modulus: slots, Type: unix.NFT_NG_INCREMENTAL},
		// The kernel counts in host byte order; nft shows the keys of a map in network byte order.
		&expr.Byteorder{SourceRegister: unix.NFT_REG_1, DestRegister: unix.NFT_REG_1, Op: expr.ByteorderHton, Len: 4, Size: 4},
		&expr.Lookup{SourceRegister: unix.NFT_REG_1, DestRegister: unix.NFT_REG_1, IsDestRegSet: true, SetName: turns.Name, SetID: turns.ID},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: uint32(proto), RegAddrMin: unix.NFT_REG_1, RegProtoMin: n.portRegister()},
	}
}

func (n *nfTables) dataType() nftables.SetDatatype {
	if n.virtual.Addr().Is4() {
		return nftables.MustConcatSetType(nftables.TypeIPAddr, nftables.TypeInetService)
	}
	return nftables.MustConcatSetType(nftables.TypeIP6Addr, nftables.TypeInetService)
}

// elements are the turns: an index, and the address and port of its member.
func (n *nfTables) elements(set Set) []nftables.SetElement {
	elements := make([]nftables.SetElement, 0, set.Slots())
	for turn, member := range Turns(set, n.name) {
		to := set[member].Address
		port := binaryutil.BigEndian.PutUint16(to.Port())
		elements = append(elements, nftables.SetElement{
			Key: binaryutil.BigEndian.PutUint32(uint32(turn)), Val: append(to.Addr().AsSlice(), port[0], port[1], 0, 0),
		})
	}
	return elements
}

// inForce returns the set of a rule; none where the rule is not one of Sluice's.
func (n *nfTables) inForce(kernel *nftables.Conn, rule *nftables.Rule) (Set, error) {
	var compared, want [][]byte
	var turns string
	var slots uint32
	gives := false
	for _, expression := range rule.Exprs {
		switch e := expression.(type) {
		case *expr.Cmp:
			compared = append(compared, e.Data)
		case *expr.Numgen:
			slots = e.Modulus
		case *expr.Lookup:
			turns = e.SetName
		case *expr.NAT:
			gives = true
		}
	}
	for _, expression := range n.matches() {
		if e, ok := expression.(*expr.Cmp); ok {
			want = append(want, e.Data)
		}
	}
	if !equal(compared, want) || turns == "" || !gives {
		return nil, nil
	}
	table, _ := n.place()
	elements, err := kernel.GetSetElements(&nftables.Set{Table: table, Name: turns})
	if err != nil || uint32(len(elements)) != slots {
		return nil, err
	}
	bytesOf := len(n.virtual.Addr().AsSlice())
	weights := map[netip.AddrPort]uint32{}
	for _, e := range elements {
		if len(e.Val) < bytesOf+2 {
			return nil, nil
		}
		address, _ := netip.AddrFromSlice(e.Val[:bytesOf])
		weights[netip.AddrPortFrom(address, binaryutil.BigEndian.Uint16(e.Val[bytesOf:bytesOf+2]))]++
	}
	var members []Member
	for address, weight := range weights {
		members = append(members, Member{address, weight})
	}
	return NewSet(members)
}

func equal(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
