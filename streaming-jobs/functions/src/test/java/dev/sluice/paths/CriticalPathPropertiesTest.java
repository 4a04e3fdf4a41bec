package dev.sluice.paths;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import dev.sluice.traces.TraceSpan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** What holds for every trace, however broken. */
class CriticalPathPropertiesTest {
  private static long sum(CriticalPath path) {
    return path.sections().stream().mapToLong(Section::durationNs).sum();
  }

  @Property(tries = 3000)
  void sectionsAreDisjointInOrderAndFillTheRoot(@ForAll long seed) {
    for (CriticalPath path : CriticalPaths.of(RandomTraces.of(seed)).paths()) {
      long at = path.root().startNs();
      Section before = null;
      for (Section section : path.sections()) {
        assertThat(section.startNs()).isEqualTo(at).isLessThan(section.endNs());
        assertThat(before == null || before.span() != section.span()).isTrue();
        at = section.endNs();
        before = section;
      }
      assertThat(at).isEqualTo(path.root().endNs());
      assertThat(sum(path)).isEqualTo(path.root().durationNs());
    }
  }

  @Property(tries = 2000)
  void orderOfTheSpansDoesNotMatter(@ForAll long seed) {
    List<TraceSpan> spans = RandomTraces.of(seed);
    CriticalPaths once = CriticalPaths.of(spans);
    List<TraceSpan> shuffled = new ArrayList<>(spans);
    Collections.shuffle(shuffled, new Random(seed));
    CriticalPaths again = CriticalPaths.of(shuffled);
    assertThat(again.paths()).isEqualTo(once.paths());
    for (Exclusion reason : Exclusion.values()) {
      assertThat(again.excluded(reason)).isEqualTo(once.excluded(reason));
    }
  }

  /** Of arrays that are used again: the traces before leave nothing behind. */
  @Property(tries = 2000)
  void tracesFoundBeforeDoNotMatter(@ForAll long seed) {
    CriticalPathFinder used = new CriticalPathFinder();
    for (long i = 0; i < 4; i++) {
      List<TraceSpan> spans = RandomTraces.of(seed + i);
      CriticalPaths result = used.find(spans);
      CriticalPaths expected = CriticalPaths.of(spans);
      assertThat(result.paths()).isEqualTo(expected.paths());
      for (Exclusion reason : Exclusion.values()) {
        assertThat(result.excluded(reason)).isEqualTo(expected.excluded(reason));
      }
    }
  }

  @Property(tries = 2000)
  void everySectionBelongsToASpanOnThePathAndEachSpanIsOnOnePath(@ForAll long seed) {
    List<TraceSpan> spans = RandomTraces.of(seed);
    CriticalPaths result = CriticalPaths.of(spans);
    Set<Long> met = new HashSet<>();
    for (CriticalPath path : result.paths()) {
      Map<Long, Long> self = new HashMap<>();
      for (Section section : path.sections()) {
        self.merge(section.span().spanId(), section.durationNs(), Long::sum);
      }
      List<TraceSpan> above = new ArrayList<>();
      for (PathSpan span : path.spans()) {
        assertThat(spans).contains(span.span());
        assertThat(met.add(span.span().spanId())).isTrue();
        assertThat(self.getOrDefault(span.span().spanId(), 0L)).isEqualTo(span.selfNs());
        while (above.size() > span.depth()) {
          above.remove(above.size() - 1);
        }
        assertThat(above).hasSize(span.depth());
        if (span.depth() > 0) {
          assertThat(span.span().parentId()).isEqualTo(above.get(above.size() - 1).spanId());
        }
        above.add(span.span());
      }
    }
    int excluded = Arrays.stream(Exclusion.values()).mapToInt(result::excluded).sum();
    assertThat(met.size() + excluded).isLessThanOrEqualTo(spans.size());
  }

  @Property(tries = 2000)
  void servicesShareTheRootsDuration(@ForAll long seed) {
    for (CriticalPath path : CriticalPaths.of(RandomTraces.of(seed)).paths()) {
      List<ServiceTime> times = ServiceTimes.of(path);
      assertThat(times.stream().mapToLong(ServiceTime::selfNs).sum()).isEqualTo(sum(path));
      assertThat(times.get(0).service()).isEqualTo(path.root().service());
      assertThat(times.get(0).upstreamNs()).isZero();
      for (ServiceTime time : times) {
        assertThat(time.upstreamNs()).isBetween(0L, sum(path) - time.selfNs());
      }
    }
  }

  /** The wait before a span, summed by who it counts for. */
  private static Map<String, Long> waits(CriticalPath path, boolean owner) {
    Map<String, Long> waits = new HashMap<>();
    List<PathSpan> line = new ArrayList<>();
    for (PathSpan span : path.spans()) {
      line.subList(span.depth(), line.size()).clear();
      line.add(span);
      if (span.waitNs() > 0) {
        PathSpan caller = line.get(span.depth() - 1);
        assertThat(caller.span().kind()).isEqualTo(Span.CLIENT);
        assertThat(span.span().kind()).isEqualTo(Span.SERVER);
        waits.merge((owner ? span : caller).span().service(), span.waitNs(), Long::sum);
      }
    }
    return waits;
  }

  @Property(tries = 2000)
  void spansFillTheirLengthWithTheSpansBelowThem(@ForAll long seed) {
    for (CriticalPath path : CriticalPaths.of(RandomTraces.of(seed)).paths()) {
      List<PathSpan> spans = path.spans();
      for (int i = 0; i < spans.size(); i++) {
        long below = spans.get(i).selfNs();
        long waited = 0;
        for (int j = i + 1; j < spans.size() && spans.get(j).depth() > spans.get(i).depth(); j++) {
          below += spans.get(j).selfNs();
          waited += spans.get(j).depth() == spans.get(i).depth() + 1 ? spans.get(j).waitNs() : 0;
        }
        assertThat(spans.get(i).lengthNs()).isEqualTo(below);
        assertThat(waited).isBetween(0L, spans.get(i).selfNs());
      }
      assertThat(spans.get(0).lengthNs()).isEqualTo(sum(path));
    }
  }

  @Property(tries = 2000)
  void waitsCountOnceWhoeverTheyCountFor(@ForAll long seed) {
    for (CriticalPath path : CriticalPaths.of(RandomTraces.of(seed)).paths()) {
      List<ServiceTime> times = ServiceTimes.of(path);
      Map<String, Long> owners = waits(path, true);
      assertThat(times.stream().mapToLong(ServiceTime::blameNs).sum()).isEqualTo(sum(path));
      assertThat(times.get(0).callUpstreamNs()).isZero();
      for (ServiceTime time : times) {
        assertThat(time.waitNs()).isEqualTo(owners.getOrDefault(time.service(), 0L));
        assertThat(time.blameNs()).isBetween(0L, sum(path));
        assertThat(time.callUpstreamNs()).isBetween(0L, sum(path));
        if (owners.isEmpty()) {
          assertThat(time.callUpstreamNs()).isEqualTo(time.upstreamNs());
          assertThat(time.blameNs()).isEqualTo(time.selfNs());
        }
      }
    }
  }

  /** root > s1 > ... > sn: upstream and callUpstream of each differ by the wait before it. */
  @Property(tries = 500)
  void inAChainBothUpstreamsDifferByTheWait(@ForAll long seed) {
    Random random = new Random(seed);
    Spans chain = Spans.trace().of("s0").add(1, 0, Span.SERVER, 0, 1_000);
    long from = 0;
    long to = 1_000;
    int services = 1 + random.nextInt(6);
    for (int i = 1; i <= services; i++) {
      long[] ends = random.longs(4, from, to + 1).sorted().toArray();
      chain.add(2L * i, 2L * i - 1, Span.CLIENT, ends[0], ends[3]);
      chain.of("s" + i).add(2L * i + 1, 2L * i, Span.SERVER, ends[1], ends[2]);
      from = ends[1];
      to = ends[2];
    }
    for (ServiceTime time : ServiceTimes.of(chain.path())) {
      assertThat(time.upstreamNs() - time.callUpstreamNs()).isEqualTo(time.waitNs());
    }
  }
}
