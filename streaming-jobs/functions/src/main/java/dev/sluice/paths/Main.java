package dev.sluice.paths;

import dev.sluice.otlp.MalformedMessageException;
import dev.sluice.traces.TraceSpan;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;

/**
 * Critical paths without Flink: messages from standard input, sections to standard output.
 *
 * <p>A message is its length (4 bytes, big endian) and an ExportTraceServiceRequest, which should
 * have whole traces: spans of one trace in two messages are two traces here. A message that cannot
 * be decoded is counted, and the next one read. The counts go to standard error at the end, as
 * JSON.
 */
public final class Main {
  private static final String HELP =
      """
      Usage: java -cp sluice-functions.jar dev.sluice.paths.Main < MESSAGES > SECTIONS

      Reads messages (4 bytes of length, big endian, and an OTLP ExportTraceServiceRequest of whole
      traces), prints the sections of their critical paths as JSON, one a line, and at the end the
      counts as JSON to standard error. `sluice critical-path` reads Jaeger JSON and OTLP JSON files
      and runs this.

      Exit codes: 0 done, 1 input is cut off or cannot be read, 2 wrong usage.
      """;
  private static final int MAX_MESSAGE_BYTES = 1 << 30;

  private final TraceReader reader = new TraceReader();
  private final CriticalPathFinder finder = new CriticalPathFinder();
  private final Totals totals = new Totals();

  private Main() {}

  /** Runs until the end of standard input. */
  public static void main(String[] arguments) {
    if (arguments.length > 0) {
      boolean isHelp = List.of("-h", "--help").contains(arguments[0]);
      (isHelp ? System.out : System.err).print(HELP);
      System.exit(isHelp ? 0 : 2);
    }
    Main main = new Main();
    String failure = main.run(System.in, new FileOutputStream(FileDescriptor.out));
    System.err.println(main.totals.toJson());
    if (failure != null) {
      System.err.println(failure);
      System.exit(1);
    }
  }

  /** Returns the error, or null. */
  private String run(InputStream in, OutputStream out) {
    SectionLines lines = new SectionLines(out);
    String failure = null;
    try (DataInputStream messages = new DataInputStream(new BufferedInputStream(in, 1 << 16))) {
      for (byte[] message = next(messages); message != null; message = next(messages)) {
        take(message, lines);
      }
    } catch (EOFException e) {
      failure = "read message " + (totals.messages + 1) + ": input ends within it";
    } catch (IOException e) {
      failure = "process message " + (totals.messages + 1) + ": " + e.getMessage();
    }
    try {
      lines.flush();
    } catch (IOException e) {
      failure = failure == null ? "write sections: " + e.getMessage() : failure;
    }
    return failure;
  }

  /** The next message, or null at the end of the input. */
  private static byte[] next(DataInputStream in) throws IOException {
    int first = in.read();
    if (first < 0) {
      return null;
    }
    int length = first << 24 | in.readUnsignedByte() << 16 | in.readUnsignedShort();
    if (length < 0 || length > MAX_MESSAGE_BYTES) {
      throw new IOException(
          "its length " + Integer.toUnsignedString(length) + " is above " + MAX_MESSAGE_BYTES);
    }
    byte[] message = in.readNBytes(length);
    if (message.length < length) {
      throw new EOFException();
    }
    return message;
  }

  private void take(byte[] message, SectionLines lines) throws IOException {
    totals.messages++;
    Map<String, List<TraceSpan>> traces;
    try {
      traces = reader.read(message);
    } catch (MalformedMessageException e) {
      totals.malformedMessages++;
      return;
    }
    totals.unusableSpans += reader.unusable();
    for (Map.Entry<String, List<TraceSpan>> trace : traces.entrySet()) {
      long begin = System.nanoTime();
      CriticalPaths paths = finder.find(trace.getValue());
      totals.add(paths, trace.getValue().size(), System.nanoTime() - begin);
      for (CriticalPath path : paths.paths()) {
        lines.write(trace.getKey(), path);
      }
    }
  }
}
