package realizetest

import "fmt"

// TomcatThreads is a connector's ThreadPool as in Tomcat 11. The executor refuses a maximum below its minimum, but maxThreads
// then reads as if it had taken it. `busy` threads do not end.
func TomcatThreads(size, spare, busy int64) *Bean {
	core, most := spare, size
	b := &Bean{Values: map[string]int64{"maxThreads": size, "minSpareThreads": spare, "currentThreadCount": spare, "currentThreadsBusy": busy}}
	settle := func() {
		if b.Values["currentThreadCount"] > most {
			b.Values["currentThreadCount"] = max(most, busy)
		}
		b.Values["minSpareThreads"] = min(core, b.Values["maxThreads"])
	}
	settle()
	b.Set = func(attribute string, value int64) error {
		defer settle()
		refused := fmt.Errorf("java.lang.IllegalArgumentException : core %d, maximum %d", core, most)
		switch attribute {
		case "minSpareThreads":
			if value > most {
				return refused
			}
			core = value
		case "maxThreads":
			b.Values["maxThreads"] = value // the setting comes first, and stays
			if value < core || value < 1 {
				return refused
			}
			most = value
		default:
			return fmt.Errorf("javax.management.AttributeNotFoundException : %s", attribute)
		}
		return nil
	}
	return b
}

// HikariConnections are the two beans of a HikariCP of fixed size, by type. Connections beyond a smaller size stay until they
// are evicted; `busy` ones until they come back.
func HikariConnections(size, busy int64) (settings, connections *Bean) {
	settings = &Bean{Values: map[string]int64{"MaximumPoolSize": size, "MinimumIdle": size}}
	connections = &Bean{Values: map[string]int64{
		"TotalConnections": size, "ActiveConnections": busy, "ThreadsAwaitingConnection": 0}}
	fill := func() {
		wanted := min(settings.Values["MinimumIdle"], settings.Values["MaximumPoolSize"])
		connections.Values["TotalConnections"] = max(connections.Values["TotalConnections"], wanted)
	}
	settings.Set = func(attribute string, value int64) error {
		if _, ok := settings.Values[attribute]; !ok || value < 1 {
			return fmt.Errorf("java.lang.IllegalArgumentException : %s %d", attribute, value)
		}
		settings.Values[attribute] = value
		fill()
		return nil
	}
	connections.Call = func(string) {
		connections.Values["TotalConnections"] = busy
		fill()
	}
	return settings, connections
}
