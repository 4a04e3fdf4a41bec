package subsets

import (
	"errors"
	"fmt"
	"net/netip"
)

// NFTablesConfig is the `nftables` block: this host's kernel gives new connections to one address to the members.
type NFTablesConfig struct {
	// Virtual is IP:PORT of the service, which callers connect to.
	Virtual string `yaml:"virtual"`
	// Protocol is tcp or udp.
	Protocol string `yaml:"protocol"`
	// From is the caller's address, where its connections come through this network namespace; without it, they begin in it.
	From string `yaml:"from"`
	// NetNS is the path of the network namespace; by default this process's.
	NetNS string `yaml:"netns"`
}

// DefaultNFTables has the default values of a block.
func DefaultNFTables() NFTablesConfig { return NFTablesConfig{Protocol: "tcp"} }

// Variables implements Config.
func (c *NFTablesConfig) Variables(fill func(text *string, key string)) {
	fill(&c.Virtual, "virtual")
	fill(&c.From, "from")
	fill(&c.NetNS, "netns")
}

// Validate implements Config.
func (c *NFTablesConfig) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	virtual, err := netip.ParseAddrPort(c.Virtual)
	if err != nil || virtual.Port() == 0 || virtual.Addr().Zone() != "" || virtual.Addr().Is4In6() {
		fault("virtual: %q: want IP:PORT with a port from 1", c.Virtual)
	}
	if _, ok := protocols[c.Protocol]; !ok {
		fault("protocol: %q: want tcp or udp", c.Protocol)
	}
	if from, err := netip.ParseAddr(c.From); c.From != "" && (err != nil || from.Zone() != "" || from.Is4() != virtual.Addr().Is4()) {
		fault("from: %q: want an IP address of the same family as virtual, or nothing", c.From)
	}
	return errors.Join(faults...)
}

// Place implements Config. Two tables with rules for the same connection would conflict.
func (c *NFTablesConfig) Place() string { return fmt.Sprint(*c) }

// Open implements Config.
func (c *NFTablesConfig) Open(name string) (Realizer, error) {
	virtual, err := netip.ParseAddrPort(c.Virtual)
	if err != nil {
		return nil, err
	}
	n := &nfTables{name: name, virtual: virtual, protocol: protocols[c.Protocol], netns: c.NetNS}
	if c.From != "" {
		n.from, err = netip.ParseAddr(c.From)
	}
	return n, err
}
