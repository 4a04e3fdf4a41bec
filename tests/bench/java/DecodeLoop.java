import dev.sluice.otlp.TraceRequestDecoder;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Decodes the messages of a file again and again, and prints how many spans it decoded per second
 * of CPU.
 *
 * <p>Arguments: a file of messages (4 bytes of length, big endian, and an
 * ExportTraceServiceRequest), seconds of warming up, seconds of measuring.
 */
public final class DecodeLoop {
  private final TraceRequestDecoder decoder = new TraceRequestDecoder();
  private long spans;
  private long errors;

  private DecodeLoop() {}

  public static void main(String[] arguments) throws Exception {
    List<byte[]> messages = read(arguments[0]);
    DecodeLoop loop = new DecodeLoop();
    loop.run(messages, Double.parseDouble(arguments[1]));
    double perSecond = loop.run(messages, Double.parseDouble(arguments[2]));
    System.out.printf("{\"messages\":%d,\"spans_per_s\":%.0f}%n", messages.size(), perSecond);
  }

  private double run(List<byte[]> messages, double seconds) throws Exception {
    var threads = ManagementFactory.getThreadMXBean();
    long begun = threads.getCurrentThreadCpuTime();
    long elapsedNs = 0;
    spans = 0;
    while (elapsedNs < seconds * 1e9) {
      for (byte[] message : messages) {
        decoder.decode(
            message,
            span -> {
              spans++;
              errors += span.isError() ? 1 : 0;
            });
      }
      elapsedNs = threads.getCurrentThreadCpuTime() - begun;
    }
    return spans / (elapsedNs / 1e9);
  }

  private static List<byte[]> read(String file) throws IOException {
    List<byte[]> messages = new ArrayList<>();
    try (DataInputStream in = new DataInputStream(new FileInputStream(file))) {
      while (in.available() > 0) {
        messages.add(in.readNBytes(in.readInt()));
      }
    }
    return messages;
  }
}
