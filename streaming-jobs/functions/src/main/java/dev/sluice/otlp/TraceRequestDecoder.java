package dev.sluice.otlp;

import static dev.sluice.otlp.WireReader.FIXED64;
import static dev.sluice.otlp.WireReader.LENGTH_DELIMITED;
import static dev.sluice.otlp.WireReader.VARINT;
import static dev.sluice.otlp.WireReader.expect;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Decodes an {@code ExportTraceServiceRequest} (opentelemetry-proto 1.x) straight from its bytes.
 * It visits each span once and reads only the fields that Sluice uses.
 *
 * <p>It is stricter than generated classes in one point: a known field with another wire type makes
 * the message malformed, because ignoring the field would lose data without an error. It skips
 * unknown fields. It passes spans on while it reads, so a consumer must be able to forget them when
 * a later part of the message is malformed.
 *
 * <p>Not thread safe; keep one per task.
 */
public final class TraceRequestDecoder {
  /**
   * A number of rows or bytes above this, 2^40, is ignored: sums of it would not fit into 64 bits.
   */
  static final long MOST = 1L << 40;

  private static final int SCOPE_SPANS = 2;
  // In opentelemetry-proto until 0.19, with the layout of scope_spans.
  private static final int INSTRUMENTATION_LIBRARY_SPANS = 1_000;

  /** The decoder searches this many bytes of a URL. */
  private static final int MOST_LOCATION = 512;

  private static final int ROLES = AttributeTable.Role.values().length;

  private final ValuePatterns patterns;
  private final AttributeTable table;
  private final WireReader in = new WireReader();
  private final StringPool strings = new StringPool();
  private final Span span = new Span();
  private final int[] rank = new int[ROLES];
  private final String[] value = new String[ROLES];
  // The bytes of the best ranked location. The decoder parses it only if no address ranks higher.
  private int locationOffset;
  private int locationLength;
  private final int[] ports = new int[AttributeTable.RANKS]; // by rank of their addresses; 0: none
  private final PeerName peerName = new PeerName();
  private final double[] decimal = new double[ROLES];
  private boolean scopeTailSampled;
  private boolean showsSampler;

  /** A decoder without patterns. */
  public TraceRequestDecoder() {
    this(ValuePatterns.NONE);
  }

  /**
   * @param patterns matched with values of attributes
   */
  public TraceRequestDecoder(ValuePatterns patterns) {
    this.patterns = patterns;
    table = AttributeTable.load(patterns.attributes());
  }

  /**
   * Visits every span of the message.
   *
   * @throws MalformedMessageException if the bytes are not such a message; nothing else is thrown
   */
  public void decode(byte[] message, SpanConsumer consumer) throws MalformedMessageException {
    in.reset(message);
    span.bytes = message;
    span.names = strings;
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 1) { // resource_spans
        expect(tag, LENGTH_DELIMITED);
        int outer = in.enter();
        resourceSpans(consumer);
        in.leave(outer);
      } else {
        in.skip(tag);
      }
    }
  }

  private void resourceSpans(SpanConsumer consumer) throws MalformedMessageException {
    // The resource may come after its spans, or in several pieces: read all of it first.
    clearRoles();
    span.matched = 0;
    int start = in.position();
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 1) { // resource
        expect(tag, LENGTH_DELIMITED);
        int outer = in.enter();
        attributes(1);
        in.leave(outer);
      } else {
        in.skip(tag);
      }
    }
    span.ownService = value[AttributeTable.Role.SERVICE.ordinal()];
    span.ownInstance = value[AttributeTable.Role.INSTANCE.ordinal()];
    span.ownHost = value[AttributeTable.Role.HOST.ordinal()];
    span.ownMatched = span.matched;
    in.seek(start);
    while (in.hasMore()) {
      int tag = in.tag();
      int field = tag >>> 3;
      if (field == SCOPE_SPANS || field == INSTRUMENTATION_LIBRARY_SPANS) {
        expect(tag, LENGTH_DELIMITED);
        int outer = in.enter();
        scopeSpans(consumer);
        in.leave(outer);
      } else {
        in.skip(tag);
      }
    }
  }

  private void scopeSpans(SpanConsumer consumer) throws MalformedMessageException {
    // The scope may come after its spans, as the resource may.
    int start = in.position();
    span.scope = "";
    span.tailSampled = false;
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 1) { // scope
        expect(tag, LENGTH_DELIMITED);
        int outer = in.enter();
        scope();
        in.leave(outer);
      } else {
        in.skip(tag);
      }
    }
    scopeTailSampled = span.tailSampled;
    in.seek(start);
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 2) { // spans
        expect(tag, LENGTH_DELIMITED);
        int outer = in.enter();
        span();
        in.leave(outer);
        consumer.accept(span);
      } else {
        in.skip(tag);
      }
    }
  }

  private void scope() throws MalformedMessageException {
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 1) { // name
        int length = bytes(tag);
        span.scope = strings.get(in.bytes(), in.position() - length, length);
      } else if (tag >>> 3
          == 3) { // attributes: the collector's tail sampler names its policy there
        expect(tag, LENGTH_DELIMITED);
        keyValue();
      } else {
        in.skip(tag);
      }
    }
  }

  private void span() throws MalformedMessageException {
    span.clear();
    span.tailSampled = scopeTailSampled;
    clearRoles();
    int firstLink = -1;
    while (in.hasMore()) {
      int tag = in.tag();
      switch (tag >>> 3) {
        case 1 -> {
          span.traceIdLength = bytes(tag);
          span.traceIdOffset = in.position() - span.traceIdLength;
        }
        case 2 -> {
          span.spanIdLength = bytes(tag);
          span.spanIdOffset = in.position() - span.spanIdLength;
        }
        case 3 -> {
          int length = bytes(tag);
          if (length > 0) {
            span.adjusted = Probability.ofTraceState(in.bytes(), in.position() - length, length);
          }
        }
        case 4 -> {
          span.parentIdLength = bytes(tag);
          span.parentIdOffset = in.position() - span.parentIdLength;
        }
        case 5 -> {
          span.nameLength = bytes(tag);
          span.nameOffset = in.position() - span.nameLength;
        }
        case 6 -> {
          expect(tag, VARINT);
          span.kind = (int) in.varint();
        }
        case 7 -> {
          expect(tag, FIXED64);
          span.startNs = in.fixed64();
        }
        case 8 -> {
          expect(tag, FIXED64);
          span.endNs = in.fixed64();
        }
        case 9 -> {
          expect(tag, LENGTH_DELIMITED);
          keyValue();
        }
        case 13 -> {
          expect(tag, LENGTH_DELIMITED);
          firstLink = firstLink < 0 ? in.position() : firstLink;
          in.advance(in.length());
        }
        case 15 -> {
          expect(tag, LENGTH_DELIMITED);
          int outer = in.enter();
          status();
          in.leave(outer);
        }
        default -> in.skip(tag);
      }
    }
    span.peer = span.isClientSide() ? peer() : "";
    sampling();
    if (firstLink >= 0) {
      links(firstLink);
    }
  }

  /** Reads the links after all other fields: fields may be in any order. */
  private void links(int first) throws MalformedMessageException {
    in.seek(first);
    link();
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 13) {
        link();
      } else {
        in.skip(tag);
      }
    }
  }

  private void link() throws MalformedMessageException {
    int outer = in.enter();
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 1) { // trace_id
        int length = bytes(tag);
        int from = in.position() - length;
        int own = span.traceIdOffset;
        span.linked |=
            length > 0
                && length == span.traceIdLength
                && Arrays.equals(in.bytes(), from, from + length, in.bytes(), own, own + length);
      } else {
        in.skip(tag);
      }
    }
    in.leave(outer);
  }

  private void status() throws MalformedMessageException {
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 3) { // code
        expect(tag, VARINT);
        span.statusCode = (int) in.varint();
      } else {
        in.skip(tag);
      }
    }
  }

  private int bytes(int tag) throws MalformedMessageException {
    expect(tag, LENGTH_DELIMITED);
    int length = in.length();
    in.advance(length);
    return length;
  }

  private void attributes(int field) throws MalformedMessageException {
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == field) {
        expect(tag, LENGTH_DELIMITED);
        keyValue();
      } else {
        in.skip(tag);
      }
    }
  }

  /** KeyValue {key = 1, value = 2}: takes the value only where the table names the key. */
  private void keyValue() throws MalformedMessageException {
    int outer = in.enter();
    AttributeTable.Entry[] entries = AttributeTable.NONE;
    int valueStart = -1;
    while (in.hasMore()) {
      int tag = in.tag();
      int field = tag >>> 3;
      if (field == 1) {
        int length = bytes(tag);
        entries = table.find(in.bytes(), in.position() - length, length);
      } else if (field == 2) {
        expect(tag, LENGTH_DELIMITED);
        valueStart = in.position();
        in.advance(in.length());
      } else {
        in.skip(tag);
      }
    }
    if (entries.length > 0 && valueStart >= 0) {
      value(entries, valueStart);
    }
    in.leave(outer);
  }

  private void value(AttributeTable.Entry[] entries, int start) throws MalformedMessageException {
    in.seek(start);
    AttributeTable.Role role = entries[0].role();
    if (role.isNumber()) {
      number(entries[0]);
    } else if (role.isCode()) {
      code(entries[0]);
    } else if (role.isDecimal()) {
      decimal(entries[0]);
    } else if (role == AttributeTable.Role.TAIL_POLICY) {
      span.tailSampled = true;
    } else if (role == AttributeTable.Role.PORT) {
      port(entries);
    } else if (role != AttributeTable.Role.MATCHED) {
      anyValue(entries);
    }
    AttributeTable.Entry last = entries[entries.length - 1];
    if (last.role() == AttributeTable.Role.MATCHED) {
      in.seek(start);
      match(last.rank());
    }
  }

  /**
   * AnyValue: string_value = 1, bool_value = 2, int_value = 3, the latter as text; array_value = 5,
   * of which each text may match.
   */
  private void match(int attribute) throws MalformedMessageException {
    int outer = in.enter();
    while (in.hasMore()) {
      int tag = in.tag();
      switch (tag >>> 3) {
        case 1 -> {
          int length = bytes(tag);
          span.matched |= patterns.match(attribute, in.bytes(), in.position() - length, length);
        }
        case 2 -> {
          expect(tag, VARINT);
          span.matched |= patterns.match(attribute, Boolean.toString(in.varint() != 0));
        }
        case 3 -> {
          expect(tag, VARINT);
          span.matched |= patterns.match(attribute, in.varint());
        }
        case 5 -> {
          expect(tag, LENGTH_DELIMITED);
          matchArray(attribute);
        }
        default -> in.skip(tag);
      }
    }
    in.leave(outer);
  }

  /** ArrayValue: values = 1; of an AnyValue string_value = 1. */
  private void matchArray(int attribute) throws MalformedMessageException {
    int outer = in.enter();
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 1) {
        expect(tag, LENGTH_DELIMITED);
        int array = in.enter();
        matchText(attribute);
        in.leave(array);
      } else {
        in.skip(tag);
      }
    }
    in.leave(outer);
  }

  private void matchText(int attribute) throws MalformedMessageException {
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 1) {
        int length = bytes(tag);
        span.matched |= patterns.match(attribute, in.bytes(), in.position() - length, length);
      } else {
        in.skip(tag);
      }
    }
  }

  /** AnyValue: string_value = 1, int_value = 3. The decoder ignores a value that is no code. */
  private void code(AttributeTable.Entry entry) throws MalformedMessageException {
    int outer = in.enter();
    boolean http = entry.role() == AttributeTable.Role.HTTP_CODE;
    int code = ResponseCode.NONE;
    while (in.hasMore()) {
      int tag = in.tag();
      switch (tag >>> 3) {
        case 1 -> {
          int length = bytes(tag);
          String text = strings.get(in.bytes(), in.position() - length, length);
          code = http ? ResponseCode.http(text) : ResponseCode.rpc(text);
        }
        case 3 -> {
          expect(tag, VARINT);
          long number = in.varint();
          code = http ? ResponseCode.http(number) : ResponseCode.rpc(number);
        }
        default -> in.skip(tag);
      }
    }
    in.leave(outer);
    int role = entry.role().ordinal();
    if (code == ResponseCode.NONE || entry.rank() >= rank[role]) {
      return;
    }
    rank[role] = entry.rank();
    if (http) {
      span.httpCode = code;
    } else {
      span.rpcCode = code;
    }
  }

  /** AnyValue: string_value = 1. The decoder ignores a name or address of another type. */
  private void anyValue(AttributeTable.Entry[] entries) throws MalformedMessageException {
    int outer = in.enter();
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 1) {
        int length = bytes(tag);
        if (length > 0 && entries[0].role() == AttributeTable.Role.LOCATION) {
          locate(entries[0], in.position() - length, length);
        } else if (length > 0) {
          take(entries, strings.get(in.bytes(), in.position() - length, length));
        }
      } else {
        in.skip(tag);
      }
    }
    in.leave(outer);
  }

  /** AnyValue: int_value = 3. The decoder ignores other types and illegal sizes. */
  private void number(AttributeTable.Entry entry) throws MalformedMessageException {
    int outer = in.enter();
    long number = -1;
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 3) {
        expect(tag, VARINT);
        number = in.varint();
      } else {
        in.skip(tag);
      }
    }
    in.leave(outer);
    int role = entry.role().ordinal();
    if (number < 0 || number > MOST || entry.rank() >= rank[role]) {
      return;
    }
    rank[role] = entry.rank();
    switch (entry.role()) {
      case ROWS -> span.rows = number;
      case REQUEST -> span.requestBytes = number;
      case RESPONSE -> span.responseBytes = number;
      default -> span.droppedBytes = number;
    }
  }

  /** AnyValue: string_value = 1, int_value = 3, double_value = 4. Other values say nothing. */
  private void decimal(AttributeTable.Entry entry) throws MalformedMessageException {
    int outer = in.enter();
    double number = Double.NaN;
    while (in.hasMore()) {
      int tag = in.tag();
      switch (tag >>> 3) {
        case 1 -> {
          int length = bytes(tag);
          number = number(strings.get(in.bytes(), in.position() - length, length));
        }
        case 3 -> {
          expect(tag, VARINT);
          number = in.varint();
        }
        case 4 -> {
          expect(tag, FIXED64);
          number = Double.longBitsToDouble(in.fixed64());
        }
        default -> in.skip(tag);
      }
    }
    in.leave(outer);
    int role = entry.role().ordinal();
    if (entry.rank() < rank[role]) {
      rank[role] = entry.rank();
      decimal[role] = number;
      showsSampler = true;
    }
  }

  private static double number(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  /**
   * What the span says of samplers before it: its tracestate, else its attributes. Jaeger's
   * rate-limiting samplers say that traces are missing, and not how many.
   */
  private void sampling() {
    if (span.adjusted == 0 && !showsSampler) { // true of most spans
      span.sampled = false;
      return;
    }
    String sampler = value[AttributeTable.Role.SAMPLER.ordinal()];
    if (span.adjusted == 0 && sampler.equals("probabilistic")) {
      span.adjusted = Probability.adjusted(decimal(AttributeTable.Role.SAMPLER_PARAM));
    }
    if (span.adjusted == 0) {
      span.adjusted = Probability.adjusted(decimal(AttributeTable.Role.PROBABILITY));
    }
    if (span.adjusted == 0) {
      span.adjusted = Probability.adjusted(1 / decimal(AttributeTable.Role.SAMPLE_RATE));
    }
    boolean limited = sampler.equals("ratelimiting") || sampler.equals("lowerbound");
    span.sampled = span.adjusted > Probability.SCALE || limited;
  }

  private double decimal(AttributeTable.Role role) {
    return rank[role.ordinal()] < AttributeTable.RANKS ? decimal[role.ordinal()] : Double.NaN;
  }

  /** AnyValue: string_value = 1, int_value = 3. Some libraries write ports as text. */
  private void port(AttributeTable.Entry[] entries) throws MalformedMessageException {
    int outer = in.enter();
    int port = 0;
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == 1) {
        int length = bytes(tag);
        port = Location.port(strings.get(in.bytes(), in.position() - length, length));
      } else if (tag >>> 3 == 3) {
        expect(tag, VARINT);
        port = Location.port(in.varint());
      } else {
        in.skip(tag);
      }
    }
    in.leave(outer);
    for (AttributeTable.Entry entry : entries) {
      if (entry.role() == AttributeTable.Role.PORT) {
        ports[entry.rank()] = port;
      }
    }
  }

  private void locate(AttributeTable.Entry entry, int offset, int length) {
    int role = AttributeTable.Role.LOCATION.ordinal();
    if (entry.rank() < rank[role]) {
      rank[role] = entry.rank();
      locationOffset = offset;
      locationLength = length;
    }
  }

  private void take(AttributeTable.Entry[] entries, String text) {
    for (AttributeTable.Entry entry : entries) {
      int role = entry.role().ordinal();
      if (entry.role() != AttributeTable.Role.MATCHED && entry.rank() < rank[role]) {
        rank[role] = entry.rank();
        value[role] = text;
        showsSampler |= entry.role() == AttributeTable.Role.SAMPLER;
      }
    }
  }

  private void clearRoles() {
    Arrays.fill(rank, Integer.MAX_VALUE);
    Arrays.fill(value, "");
    Arrays.fill(ports, 0);
    showsSampler = false;
  }

  private String peer() {
    String peer = value[AttributeTable.Role.PEER.ordinal()];
    span.peerNamed = !peer.isEmpty();
    if (span.peerNamed) {
      return peer;
    }
    String namespace = value[AttributeTable.Role.NAMESPACE.ordinal()];
    int addressRank = rank[AttributeTable.Role.ADDRESS.ordinal()];
    if (rank[AttributeTable.Role.LOCATION.ordinal()] < addressRank) {
      Location location = location();
      if (!location.address().isEmpty()) {
        return peerName.of(location.address(), location.port(), namespace);
      }
    }
    String address = value[AttributeTable.Role.ADDRESS.ordinal()];
    return address.isEmpty() ? "" : peerName.of(address, ports[addressRank], namespace);
  }

  private Location location() {
    int length = Math.min(locationLength, MOST_LOCATION);
    String text = new String(span.bytes, locationOffset, length, StandardCharsets.UTF_8);
    Location location = Location.of(text);
    byte[] address = location.address().getBytes(StandardCharsets.UTF_8);
    return new Location(strings.get(address, 0, address.length), location.port());
  }
}
