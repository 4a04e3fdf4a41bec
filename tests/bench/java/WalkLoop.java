import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.paths.CriticalPathFinder;
import dev.sluice.traces.TraceSpan;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Walks the traces of a file again and again, and prints how many it walked per second of CPU.
 *
 * <p>Arguments: a file of messages (4 bytes of length, big endian, and an ExportTraceServiceRequest
 * that holds one trace), seconds of warming up, seconds of measuring.
 */
public final class WalkLoop {
  private WalkLoop() {}

  public static void main(String[] arguments) throws Exception {
    List<List<TraceSpan>> traces = read(arguments[0]);
    run(traces, Double.parseDouble(arguments[1]));
    double perSecond = run(traces, Double.parseDouble(arguments[2]));
    int spans = traces.stream().mapToInt(List::size).sum();
    System.out.printf(
        "{\"traces\":%d,\"spans\":%d,\"traces_per_s\":%.0f}%n", traces.size(), spans, perSecond);
  }

  private static double run(List<List<TraceSpan>> traces, double seconds) {
    CriticalPathFinder finder = new CriticalPathFinder();
    var threads = ManagementFactory.getThreadMXBean();
    long begun = threads.getCurrentThreadCpuTime();
    long elapsedNs = 0;
    long walked = 0;
    long sections = 0;
    while (elapsedNs < seconds * 1e9) {
      for (List<TraceSpan> trace : traces) {
        sections += finder.find(trace).paths().get(0).sections().size();
      }
      walked += traces.size();
      elapsedNs = threads.getCurrentThreadCpuTime() - begun;
    }
    if (sections == 0) {
      throw new IllegalStateException("no trace has a path");
    }
    return walked / (elapsedNs / 1e9);
  }

  private static List<List<TraceSpan>> read(String file) throws Exception {
    List<List<TraceSpan>> traces = new ArrayList<>();
    TraceRequestDecoder decoder = new TraceRequestDecoder();
    try (DataInputStream in = new DataInputStream(new FileInputStream(file))) {
      while (in.available() > 0) {
        List<TraceSpan> spans = new ArrayList<>();
        decoder.decode(in.readNBytes(in.readInt()), span -> spans.add(TraceSpan.of(span, 0)));
        traces.add(spans);
      }
    }
    return traces;
  }
}
