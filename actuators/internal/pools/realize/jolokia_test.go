package realize_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/realize"
	"sluice.dev/actuators/internal/reconcile"
	"sluice.dev/actuators/internal/tests/realizetest"
)

const (
	threads     = `Tomcat:type=ThreadPool,name="http-nio-8080"`
	settings    = "com.zaxxer.hikari:type=PoolConfig (rows)"
	connections = "com.zaxxer.hikari:type=Pool (rows)"
)

func opened(t *testing.T, config realize.Config) realize.Realizer {
	t.Helper()
	if err := config.Validate(); err != nil {
		t.Fatal(err)
	}
	r, err := config.Open()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tomcat(t *testing.T, bean *realizetest.Bean) (realize.Realizer, *realizetest.Jolokia) {
	agent := realizetest.StartJolokia(t, map[string]*realizetest.Bean{threads: bean, threads + ",subType=Socket": {}})
	config := realize.DefaultTomcat()
	config.URL = agent.URL
	return opened(t, &config), agent
}

func hikari(t *testing.T, size, busy int64) (realize.Realizer, *realizetest.Jolokia, map[string]int64, map[string]int64) {
	s, c := realizetest.HikariConnections(size, busy)
	agent := realizetest.StartJolokia(t, map[string]*realizetest.Bean{settings: s, connections: c})
	config := realize.DefaultHikari()
	config.URL = agent.URL
	return opened(t, &config), agent, c.Values, s.Values
}

func TestTomcatContract(t *testing.T) {
	realizetest.TestContract(t, func(t *testing.T) realizetest.Fixture {
		bean := realizetest.TomcatThreads(64, 10, 0)
		r, agent := tomcat(t, bean)
		return realizetest.Fixture{
			Realizer: r, Break: agent.Break, Stall: agent.Stall,
			Size: func() (size uint32) {
				agent.With(func() { size = uint32(max(bean.Values["maxThreads"], bean.Values["currentThreadCount"])) })
				return size
			},
			SetSize: func(size uint32) {
				agent.With(func() { bean.Set("minSpareThreads", 1); bean.Set("maxThreads", int64(size)) })
			},
			SetUse: func(use pool.Use) {
				agent.With(func() { bean.Values["currentThreadsBusy"] = number(use.Busy) }) // -1 is Tomcat's own for none
			},
		}
	})
}

func TestHikariContract(t *testing.T) {
	realizetest.TestContract(t, func(t *testing.T) realizetest.Fixture {
		r, agent, values, configured := hikari(t, 64, 0)
		return realizetest.Fixture{
			Realizer: r, Break: agent.Break, Stall: agent.Stall,
			Size: func() (size uint32) { agent.With(func() { size = uint32(values["TotalConnections"]) }); return },
			SetSize: func(size uint32) {
				agent.With(func() {
					values["TotalConnections"] = int64(size)
					configured["MaximumPoolSize"] = int64(size)
				})
			},
			SetUse: func(use pool.Use) {
				agent.With(func() {
					values["ActiveConnections"], values["ThreadsAwaitingConnection"] = number(use.Busy), number(use.Waiting)
				})
			},
			ReportsWaiting: true,
		}
	})
}

func TestJMXContract(t *testing.T) {
	realizetest.TestContract(t, func(t *testing.T) realizetest.Fixture {
		const name = "shop:type=Workers"
		values := map[string]int64{"Size": 64, "There": 0, "Busy": 0, "Queued": 0}
		bean := &realizetest.Bean{Values: values, Set: func(attribute string, value int64) error { values[attribute] = value; return nil }}
		agent := realizetest.StartJolokia(t, map[string]*realizetest.Bean{name: bean})
		config := realize.DefaultJMX()
		config.URL, config.MBean, config.Attribute, config.InForce = agent.URL, name, "Size", "There"
		config.Busy, config.Waiting = "Busy", "Queued"
		return realizetest.Fixture{
			Realizer: opened(t, &config), Break: agent.Break, Stall: agent.Stall,
			Size:    func() (size uint32) { agent.With(func() { size = uint32(values["Size"]) }); return },
			SetSize: func(size uint32) { agent.With(func() { values["Size"] = int64(size) }) },
			SetUse: func(use pool.Use) {
				agent.With(func() { values["Busy"], values["Queued"] = number(use.Busy), number(use.Waiting) })
			},
			ReportsWaiting: true,
		}
	})
}

func TestJMXTakesARefusedLimitBack(t *testing.T) {
	agent := realizetest.StartJolokia(t, map[string]*realizetest.Bean{threads: realizetest.TomcatThreads(32, 10, 0)})
	config := realize.DefaultJMX()
	config.URL, config.MBean, config.Attribute, config.InForce = agent.URL, threads, "maxThreads", "currentThreadCount"
	r := opened(t, &config)
	if err := r.Write(t.Context(), 5); err == nil {
		t.Error("want Tomcat's refusal")
	}
	if got, _, err := r.Read(t.Context()); err != nil || got != pool.Of(32) {
		t.Errorf("Read() = %v, %v, want 32", got, err)
	}
	config.First = []string{"minSpareThreads"}
	r = opened(t, &config)
	for _, size := range []uint32{5, 12} {
		if err := r.Write(t.Context(), size); err != nil {
			t.Error(err)
		}
	}
}

// Tomcat's default: fewer threads than the 10 spare ones are refused unless the spare ones are reduced first, and more
// threads restore them.
func TestTomcatBelowItsSpareThreads(t *testing.T) {
	bean := realizetest.TomcatThreads(32, 10, 0)
	r, agent := tomcat(t, bean)
	for _, size := range []uint32{5, 20} {
		if err := r.Write(t.Context(), size); err != nil {
			t.Fatal(err)
		}
		if got, _, err := r.Read(t.Context()); err != nil || got != pool.Of(size) {
			t.Errorf("Read() = %v, %v, want %d", got, err, size)
		}
	}
	want := "[minSpareThreads=5 maxThreads=5 minSpareThreads=5 maxThreads=20 minSpareThreads=10]"
	if got := fmt.Sprint(agent.Requests()); got != want {
		t.Errorf("wrote %s, want %s", got, want)
	}
}

// maxThreads reads 5, which Tomcat refused: 10 threads run.
func TestTomcatRefusedIsNotInForce(t *testing.T) {
	bean := realizetest.TomcatThreads(32, 10, 0)
	r, agent := tomcat(t, bean)
	agent.With(func() {
		if bean.Set("maxThreads", 5) == nil || bean.Values["maxThreads"] != 5 {
			t.Error("the fake is not Tomcat: want 5 refused, and read all the same")
		}
	})
	if got, _, err := r.Read(t.Context()); err != nil || got != pool.Of(10) {
		t.Errorf("Read() = %v, %v, want the 10 threads that run", got, err)
	}
	if err := r.Write(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if got, _, err := r.Read(t.Context()); err != nil || got != pool.Of(5) {
		t.Errorf("Read() = %v, %v, want 5 once it is written in order", got, err)
	}
}

func TestTomcatTakesARefusedMaximumBack(t *testing.T) {
	bean := realizetest.TomcatThreads(32, 10, 0)
	set := bean.Set
	bean.Set = func(attribute string, value int64) error {
		if attribute == "minSpareThreads" {
			return nil // as one that is overruled
		}
		return set(attribute, value)
	}
	r, _ := tomcat(t, bean)
	err := r.Write(t.Context(), 5)
	if err == nil || !strings.Contains(err.Error(), "write size 5: maxThreads = 5: write Tomcat:") || !strings.Contains(err.Error(), "status 400 in the response, want 200") {
		t.Errorf("error %v, want Jolokia's own", err)
	}
	if got, _, err := r.Read(t.Context()); err != nil || got != pool.Of(32) {
		t.Errorf("Read() = %v, %v, want 32", got, err)
	}
}

func TestTomcatWithBusyThreadsDidNotConverge(t *testing.T) {
	r, _ := tomcat(t, func() *realizetest.Bean {
		b := realizetest.TomcatThreads(32, 10, 20)
		b.Values["currentThreadCount"] = 25
		return b
	}())
	if err := r.Write(t.Context(), 12); err != nil {
		t.Fatal(err)
	}
	if got, err := readBack(t, r, 12, 0); err != nil || got != pool.Of(20) {
		t.Errorf("ReadBack() = %v, %v, want the 20 threads that are busy", got, err)
	}
}

func TestTomcatWithoutThreadsOfItsOwn(t *testing.T) {
	bean := realizetest.TomcatThreads(32, 10, 0)
	bean.Values["maxThreads"] = -1
	r, _ := tomcat(t, bean)
	if got, _, err := r.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "virtual threads") {
		t.Errorf("Read() = %v, %v, want an error that says why", got, err)
	}
}

func TestTwoConnectorsHaveToBeNamed(t *testing.T) {
	other := strings.Replace(threads, "8080", "8081", 1)
	agent := realizetest.StartJolokia(t, map[string]*realizetest.Bean{
		threads: realizetest.TomcatThreads(32, 10, 0), other: realizetest.TomcatThreads(16, 10, 0)})
	config := realize.DefaultTomcat()
	config.URL = agent.URL
	if got, _, err := opened(t, &config).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "2 beans") {
		t.Errorf("Read() = %v, %v, want both named", got, err)
	}
	config.MBean = other
	if got, _, err := opened(t, &config).Read(t.Context()); err != nil || got != pool.Of(16) {
		t.Errorf("Read() = %v, %v, want 16", got, err)
	}
}

func TestHikariEvictsAfterItShrank(t *testing.T) {
	r, agent, _, _ := hikari(t, 20, 7)
	for _, size := range []uint32{5, 12} {
		if err := r.Write(t.Context(), size); err != nil {
			t.Fatal(err)
		}
	}
	want := "[MinimumIdle=5 MaximumPoolSize=5 softEvictConnections MaximumPoolSize=12 MinimumIdle=12]"
	if got := fmt.Sprint(agent.Requests()); got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	if err := r.Write(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if got, err := readBack(t, r, 5, 300*time.Millisecond); err != nil || got != pool.Of(7) {
		t.Errorf("ReadBack() = %v, %v, want the 7 connections that are in use", got, err)
	}
}

// A bean without the attribute still has a size.
func TestABeanWithoutOccupancy(t *testing.T) {
	bean := realizetest.TomcatThreads(32, 10, 0)
	delete(bean.Values, "currentThreadsBusy")
	r, _ := tomcat(t, bean)
	if size, use, err := r.Read(t.Context()); err != nil || size != pool.Of(32) || use != (pool.Use{}) {
		t.Errorf("Read() = %v, %v, %v, want 32 and nothing else", size, use, err)
	}
	if err := r.Write(t.Context(), 12); err != nil {
		t.Error(err)
	}
}

// readBack reads until the size is in force, or until `settle` is over, as the cycle does after a write.
func readBack(t *testing.T, r realize.Realizer, size uint32, settle time.Duration) (pool.Size, error) {
	return reconcile.Write[pool.Size]{
		Read: func(ctx context.Context) (pool.Size, error) {
			size, _, err := r.Read(ctx)
			return size, err
		},
		Reached: func(read pool.Size) bool { return read == pool.Of(size) }, Settle: settle,
	}.ReadBack(t.Context())
}
