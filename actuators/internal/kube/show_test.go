package kube

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/watch"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

type decisions struct{ snapshot watch.Snapshot }

func (d *decisions) Latest() watch.Snapshot { return d.snapshot }

func (d *decisions) decide(answers ...*poolsv1.PoolSize) {
	d.snapshot = watch.Snapshot{Sizes: map[pool.Key]*poolsv1.PoolSize{}, ReceivedAt: time.Now()}
	for _, answer := range answers {
		d.snapshot.Sizes[pool.FromProto(answer.GetPool())] = answer
	}
}

// showcase is an API server with the Deployment cart, and SoftResources of a process with a target in its pod.
type showcase struct {
	*SoftResources
	t         *testing.T
	client    *fake.FakeDynamicClient
	decisions *decisions
	feed      *feed
	pods      *Pods
}

func newShowcase(t *testing.T, node string, objects ...string) *showcase {
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		softResources: "SoftResourceList", workloads["Deployment"]: "DeploymentList", pods: "PodList", namespaces: "NamespaceList",
	})
	s := &showcase{t: t, client: client, decisions: &decisions{}}
	create := func(of schema.GroupVersionResource, text string) {
		if _, err := client.Resource(of).Namespace("shop").Create(t.Context(), object(t, text), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create(workloads["Deployment"], "{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: shop, name: cart, uid: d-1}}")
	create(pods, `{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: cart-0, uid: p-1, annotations: {sluice.dev/pool: server, sluice.dev/target: "tomcat:8778", sluice.dev/apply: "true", sluice.dev/slo: 200ms}, labels: {app.kubernetes.io/name: cart}}, spec: {containers: [{name: app}]}, status: {phase: Running, podIP: 10.0.0.1}}`)
	for _, text := range objects {
		create(softResources, "{apiVersion: sluice.dev/v1alpha1, kind: SoftResource, metadata: {namespace: shop, generation: 3, "+text+"}")
	}
	cluster := New(Config{SoftResources: true, Node: node}, client, slog.New(slog.DiscardHandler))
	s.SoftResources, s.pods = cluster.SoftResources(s.decisions), cluster.Pods(PodsConfig{Namespace: "shop"}, pool.Key{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); cluster.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	s.feed = cluster.shown["shop"]
	if err := s.feed.synced(ctx); err != nil {
		t.Fatal(err)
	}
	client.ClearActions()
	return s
}

func target(low, high uint32, apply bool) pools.Target {
	t := threads
	t.Rules = policy.Rules{Apply: apply, Min: low, Max: high}
	t.Workload = discover.Workload{APIVersion: "apps/v1", Kind: "Deployment", Name: "cart"}
	return t
}

func decision(state poolsv1.State, action commonv1.Action, size uint32, sizes ...uint32) *poolsv1.PoolSize {
	answer := &poolsv1.PoolSize{Pool: threads.Pool.Proto(), State: state, Action: action, Target: &size, Reasons: []*commonv1.Reason{{Code: "PEAK"}, {Code: "DEEP"}}}
	for i := range sizes {
		answer.Sizes = append(answer.Sizes, &poolsv1.TargetSize{Instance: fmt.Sprint(i), Size: &sizes[i]})
	}
	return answer
}

// settle waits until the feed has what the API server has.
func (s *showcase) settle() {
	s.t.Helper()
	for range 1000 {
		all, err := s.client.Resource(softResources).Namespace("shop").List(s.t.Context(), metav1.ListOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		same := len(all.Items) == len(listed[*SoftResource](s.feed))
		for _, u := range all.Items {
			o, _ := toSoftResource(&u)
			same = same && last(s.feed, func(r *SoftResource) bool {
				return r.Name == u.GetName() && equality.Semantic.DeepEqual(r.Status, o.(*SoftResource).Status)
			}) != nil
		}
		if same {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatal("the feed lags behind the API server")
}

// lines are the objects: name, target/in force, state, action, reason, and the conditions.
func (s *showcase) lines() string {
	s.settle()
	var all []string
	for _, r := range oldestFirst(s.feed) {
		st, size := r.Status, "-"
		if st.Target != nil {
			size = fmt.Sprint(*st.Target)
		}
		line := fmt.Sprintf("%s %s/%s %s %s %s g%d", r.Name, size, st.InForce, st.State, st.Action, st.Reason, st.ObservedGeneration)
		for _, c := range st.Conditions {
			line += fmt.Sprintf(" %s=%s:%s", c.Type, c.Status, c.Reason)
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

func (s *showcase) shows(want string) {
	s.t.Helper()
	s.pass(s.t.Context())
	if got := s.lines(); got != want {
		s.t.Errorf("shows\n%s\nwant\n%s", got, want)
	}
}

func TestAPoolIsShownAndWrittenOnlyWhenItChanges(t *testing.T) {
	s := newShowcase(t, "")
	s.Begin(target(2, 64, false))
	s.decisions.decide(decision(poolsv1.State_STATE_PROVIDED, commonv1.Action_ACTION_APPLY, 12, 8, 20))
	s.shows("cart.server -/    g0")
	created, _ := s.client.Resource(softResources).Namespace("shop").Get(t.Context(), "cart.server", metav1.GetOptions{})
	if owners := created.GetOwnerReferences(); len(owners) != 1 || owners[0].Kind != "Deployment" || owners[0].UID != "d-1" {
		t.Errorf("owners %v", owners)
	}
	s.shows("cart.server 12/8..20 PROVIDED APPLY PEAK,DEEP g0 Ready=True:PROVIDED Applied=False:NotOptedIn")
	s.client.ClearActions()
	s.shows("cart.server 12/8..20 PROVIDED APPLY PEAK,DEEP g0 Ready=True:PROVIDED Applied=False:NotOptedIn")
	if got := strings.ReplaceAll(writes(s.client), "list", ""); strings.TrimSpace(got) != "" {
		t.Errorf("nothing changed, and the API server got %q", got)
	}
	s.Begin(target(2, 64, true))
	s.shows("cart.server 12/8..20 PROVIDED APPLY PEAK,DEEP g0 Ready=True:PROVIDED Applied=False:Pending")
	s.decisions.decide(decision(poolsv1.State_STATE_PROVIDED, commonv1.Action_ACTION_HOLD, 12, 12))
	s.shows("cart.server 12/12 PROVIDED HOLD PEAK,DEEP g0 Ready=True:PROVIDED Applied=True:InForce")
	s.decisions.decide(decision(poolsv1.State_STATE_LEARNING, commonv1.Action_ACTION_HOLD, 12, 14))
	s.shows("cart.server 12/14 LEARNING HOLD PEAK,DEEP g0 Ready=True:LEARNING Applied=False:Held")
	s.decisions.decide()
	s.Record(pools.Pass{Target: threads.Name, Current: pool.Unbounded, Report: &poolsv1.Actuation{}})
	s.shows("cart.server -/unbounded    g0 Ready=False:NoDecision Applied=Unknown:NotKnown")
	s.decisions.snapshot.Err = context.DeadlineExceeded
	s.shows("cart.server -/unbounded    g0 Ready=Unknown:RecommenderLost Applied=Unknown:NotKnown")
}

const cartPool = "spec: {pool: {service: cart, side: server}"

func TestASpecOverrides(t *testing.T) {
	for text, want := range map[string]string{
		"}":                                 "1 0..0 200ms", // the annotation's
		", apply: false}":                   "2 0..0 200ms",
		", apply: true, bounds: {max: 16}}": "1 0..16 200ms",
		", bounds: {min: 4, max: 16}}":      "1 4..16 200ms",
		", slo: 1h}":                        "1 0..0 1h0m0s",
		", slo: 61m}":                       "1 0..0 200ms", // no API server takes it
	} {
		s := newShowcase(t, "", "name: mine}, "+cartPool+text)
		endpoints, err := s.pods.Find(t.Context())
		if err != nil || len(endpoints) != 1 {
			t.Fatalf("%v, %v", endpoints, err)
		}
		if got := fmt.Sprintf("%d %d..%d %s", endpoints[0].OptIn, endpoints[0].Min, endpoints[0].Max, endpoints[0].SLO); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestASpecThatDoesNotCountIsNamed(t *testing.T) {
	s := newShowcase(t, "",
		`name: b, uid: "2", creationTimestamp: "2026-01-01T00:00:00Z"}, `+cartPool+", bounds: {min: 100}}",
		`name: a, uid: "1", creationTimestamp: "2026-01-02T00:00:00Z"}, `+cartPool+"}")
	s.Begin(target(2, 64, false)) // as internal/config leaves it: no size in common
	s.decisions.decide(decision(poolsv1.State_STATE_PROVIDED, commonv1.Action_ACTION_HOLD, 12, 12))
	s.shows(`b 12/12 PROVIDED HOLD PEAK,DEEP g3 Ready=False:BoundsOutside Applied=True:InForce
a 12/12 PROVIDED HOLD PEAK,DEEP g3 Ready=False:Duplicate Applied=True:InForce`)
}

func TestAnActuatorOfANodeLeavesOtherNodesPoolsAlone(t *testing.T) {
	for node, want := range map[string]string{
		"node-1": "a -/    g0",
		"":       "a -/    g3 Ready=False:NoDecision Applied=Unknown:NotKnown",
	} {
		s := newShowcase(t, node, "name: a}, "+cartPool+"}")
		s.decisions.decide()
		s.shows(want)
	}
}

func TestSoftName(t *testing.T) {
	for peer, want := range map[string]string{
		"postgres":            "cart.client.postgres",
		"127.0.0.1/petclinic": "cart.client.127.0.0.1.petclinic.",
		"Orders Queue":        "cart.client.orders.queue.",
	} {
		name := softName(pool.Key{Service: "cart", Side: poolsv1.Side_SIDE_CLIENT, Peer: peer})
		if !strings.HasPrefix(name, want) || (len(name) != len(want)) != strings.HasSuffix(want, ".") {
			t.Errorf("%s: %s, want %s", peer, name, want)
		}
	}
}

func TestAnAnnotationIsRefusedOnce(t *testing.T) {
	s := newShowcase(t, "")
	u, _ := s.client.Resource(pods).Namespace("shop").Get(t.Context(), "cart-0", metav1.GetOptions{})
	u.SetAnnotations(map[string]string{"sluice.dev/pool": "srver", "sluice.dev/target": "tomcat:8778"})
	if _, err := s.client.Resource(pods).Namespace("shop").Update(t.Context(), u, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if endpoints, err := s.pods.Find(t.Context()); err == nil && len(endpoints) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_, _ = s.pods.Find(t.Context())
	if n := s.cluster.Refusals(); n != 1 {
		t.Errorf("refused %d times, want once", n)
	}
}
