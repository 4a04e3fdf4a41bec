package dev.sluice.paths;

import dev.sluice.json.JsonText;
import dev.sluice.otlp.Bytes;
import dev.sluice.traces.SharedIds;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Writes paths as JSON, one line a section, in order of time within a path:
 *
 * <pre>
 * {"trace_id":"0..01","span_id":"0..02","service":"cart","operation":"GET","start_us":10,"end_us":12.5,
 *  "root_span_id":"0..01","incomplete":false}
 * </pre>
 *
 * Ids as they were sent, in hexadecimal, 32 and 16 digits. Times in microseconds of the Unix epoch,
 * written exactly: with up to three decimals where nanoseconds do not make whole microseconds.
 */
final class SectionLines {
  private static final int NS_PER_US = 1_000;
  private static final int FLUSH_CHARS = 1 << 16;

  private final OutputStream out;
  private final StringBuilder text = new StringBuilder();

  SectionLines(OutputStream out) {
    this.out = out;
  }

  void write(String traceId, CriticalPath path) throws IOException {
    String root = spanId(SharedIds.sent(path.root()));
    for (Section section : path.sections()) {
      text.append("{\"trace_id\":\"").append(traceId);
      text.append("\",\"span_id\":\"").append(spanId(SharedIds.sent(section.span())));
      text.append("\",\"service\":");
      JsonText.appendString(text, section.span().service());
      text.append(",\"operation\":");
      JsonText.appendString(text, section.span().operation());
      text.append(",\"start_us\":");
      microseconds(section.startNs());
      text.append(",\"end_us\":");
      microseconds(section.endNs());
      text.append(",\"root_span_id\":\"").append(root);
      text.append("\",\"incomplete\":").append(path.incomplete()).append("}\n");
    }
    if (text.length() >= FLUSH_CHARS) {
      flush();
    }
  }

  void flush() throws IOException {
    out.write(text.toString().getBytes(StandardCharsets.UTF_8));
    out.flush();
    text.setLength(0);
  }

  private static String spanId(long id) {
    byte[] bytes =
        ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(id).array();
    return Bytes.hex(bytes, 0, bytes.length);
  }

  private void microseconds(long ns) {
    text.append(ns / NS_PER_US);
    int rest = (int) (ns % NS_PER_US);
    if (rest != 0) {
      String digits = String.valueOf(NS_PER_US + rest).substring(1);
      text.append('.').append(digits.replaceFirst("0+$", ""));
    }
  }
}
