package health

import (
	"net"
	"net/http"
	"net/netip"
)

// onLoopback refuses requests under a name that was made to lead to this machine, if the listener is on loopback: a page of a
// browser would read the response (DNS rebinding). Addresses and localhost are served, and on another listener every name.
func onLoopback(listener net.Addr, handler http.Handler) http.Handler {
	address, err := netip.ParseAddrPort(listener.String())
	if err != nil || !address.Addr().IsLoopback() {
		return handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r.Host) {
			http.Error(w, "Host: want an IP address or localhost", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

func local(requested string) bool {
	host, _, err := net.SplitHostPort(requested)
	if err != nil {
		host = requested
	}
	if host == "" || host == "localhost" {
		return true
	}
	if host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	_, err = netip.ParseAddr(host)
	return err == nil
}
