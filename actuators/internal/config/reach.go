package config

import (
	"fmt"
	"net/netip"
	"strings"

	"sluice.dev/actuators/internal/discover"
)

// networksOf reads the allow-list of a discovery.
func networksOf(texts []string) (networks []netip.Prefix, err error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil || network.Masked() != network {
			return nil, fmt.Errorf("within: %q: want a network such as 10.0.0.0/8", text)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// Reach returns why no request may go to an instance. Whoever writes a pod's status, a DNS record or the file names its address,
// and gets the requests with their credentials: so they may not lead to the metadata of a cloud, which is link-local, and those
// of pods not to this process's own host, unless `within` has it. With `within` the address is in one of its networks.
func (d *Discover) Reach(endpoint discover.Endpoint) error {
	networks, err := networksOf(d.Within)
	if err != nil {
		return err
	}
	address, err := netip.ParseAddr(endpoint.Host())
	if err != nil {
		if len(networks) > 0 {
			return fmt.Errorf("%q is a name: want an address of within (%s)", endpoint.Host(), strings.Join(d.Within, ", "))
		}
		return nil
	}
	address = address.Unmap().WithZone("")
	switch {
	case address.IsLinkLocalUnicast(), address.IsMulticast(), address.IsUnspecified(), address == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return fmt.Errorf("%s is link-local, multicast or no address of one host: want another", address)
	case len(networks) == 0 && d.Kubernetes != nil && address.IsLoopback():
		return fmt.Errorf("%s is of the actuator's own host: want a pod's, or within: [%s]", address, netip.PrefixFrom(address, address.BitLen()))
	}
	if len(networks) == 0 {
		return nil
	}
	for _, network := range networks {
		if network.Contains(address) {
			return nil
		}
	}
	return fmt.Errorf("%s is in none of within (%s)", address, strings.Join(d.Within, ", "))
}
