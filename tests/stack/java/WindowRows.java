import dev.sluice.accounting.MessageReader;
import dev.sluice.accounting.SpanBounds;
import dev.sluice.accounting.Validity;
import dev.sluice.windows.WindowAccumulator;
import dev.sluice.windows.Spread;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * What the stage that reads spans makes of messages, without Flink: the same reader and accumulator,
 * one line for each partial row of each message, columns separated by tabs.
 *
 * <p>Arguments: a file of messages (4 bytes of length, big endian, and an
 * ExportTraceServiceRequest), their record time in ms, and the job's settings bucket-ms,
 * max-spread-ms, max-age-ms, max-ahead-ms and lateness-ms.
 */
public final class WindowRows {
  private WindowRows() {}

  public static void main(String[] arguments) throws IOException {
    long[] number = new long[arguments.length];
    for (int i = 1; i < arguments.length; i++) {
      number[i] = Long.parseLong(arguments[i]);
    }
    WindowAccumulator windows = new WindowAccumulator(new Spread(number[2], number[3]));
    MessageReader reader = new MessageReader(new Validity(number[4], number[5], number[6]), windows, SpanBounds.NONE);
    try (DataInputStream in = new DataInputStream(new FileInputStream(arguments[0]));
        PrintStream out =
            new PrintStream(new BufferedOutputStream(System.out), false, StandardCharsets.UTF_8)) {
      while (in.available() > 0) {
        reader.read(in.readNBytes(in.readInt()), number[1], false);
        if (!reader.deadLetters().isEmpty()) {
          throw new IllegalStateException("rejected: " + reader.deadLetters().get(0));
        }
        windows.forEach(
            (point, partial) ->
                out.printf(
                    "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s%n",
                    point.side().label(),
                    point.service(),
                    point.peer(),
                    point.instance(),
                    partial.bucketMs(),
                    partial.busyNs(),
                    partial.completions(),
                    partial.errors(),
                    partial.latency()));
      }
    }
  }
}
