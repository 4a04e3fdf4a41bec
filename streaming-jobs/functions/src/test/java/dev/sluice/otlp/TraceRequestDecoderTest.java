package dev.sluice.otlp;

import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.intAttribute;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.resource;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TraceRequestDecoderTest {
  private final TraceRequestDecoder decoder = new TraceRequestDecoder();

  private List<String> peers(byte[] message) throws MalformedMessageException {
    List<String> peers = new ArrayList<>();
    decoder.decode(message, span -> peers.add(span.peer()));
    return peers;
  }

  @Test
  void emptyMessageHasNoSpans() throws Exception {
    assertThat(peers(new byte[0])).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = ", ",
      value = {
        "service.peer.name=a peer.service=b, a",
        "peer.service=b service.peer.name=a, a",
        "peer.service=b server.address=db, b",
        "server.address=db, db",
        "net.peer.name=old, old",
        "net.peer.name=old server.address=new, new",
        "server.address=db db.namespace=orders, db/orders",
        "net.peer.name=db db.name=orders, db/orders",
        "net.peer.name=db db.name=old db.namespace=new, db/new",
        "db.namespace=orders, ''",
        "http.method=GET, ''",
        // Addresses that older or other libraries write, the best first.
        "url.full=http://pay:8081/v1, pay:8081",
        "http.url=https://user:word@pay/v1?to=a@b, pay",
        "http.host=pay:8081 http.target=/v1, pay:8081",
        "server.address=new url.full=http://pay:8081/v1, new",
        "url.full=http://pay:8081/v1 network.peer.address=10.0.0.9, pay:8081",
        "url.full=/v1 network.peer.address=10.0.0.9 network.peer.port=80, 10.0.0.9:80",
        "net.sock.peer.name=db net.sock.peer.addr=10.0.0.5 db.name=orders, db/orders",
        "network.peer.address=10.0.0.6 network.peer.port=6379, 10.0.0.6:6379",
        "net.peer.ip=10.0.0.6 net.peer.port=6379, 10.0.0.6:6379",
        "net.sock.peer.addr=10.0.0.6, 10.0.0.6",
        "network.peer.address=fd00::6 network.peer.port=6379, [fd00::6]:6379",
        "peer.hostname=pay peer.port=8081, pay:8081",
        "peer.ipv4=10.0.0.7 peer.port=81, 10.0.0.7:81",
        "peer.address=10.0.0.7:81, 10.0.0.7:81",
        "upstream_cluster=cart_cluster peer.address=10.0.0.9:8080, cart_cluster",
        "upstream_cluster=a upstream_cluster.name=b http.url=http://c/, b",
        "upstream_cluster.name=outbound|8081||pay.shop.svc peer.address=10.0.0.9, pay.shop.svc:8081",
        "upstream_cluster.name=outbound|80|v2|pay.shop.svc, outbound|80|v2|pay.shop.svc",
        "db.connection_string=Server=sql-1,1433;Database=shop, sql-1",
        "db.connection_string=postgresql://sql-1:5433/shop, sql-1:5433",
        "db.connection_string=Database=shop, ''",
        // Two ports of one address are two peers; of a name a usual port goes without saying.
        "server.address=cache server.port=6379, cache",
        "server.address=cache server.port=6380, cache:6380",
        "server.address=localhost server.port=6379, localhost:6379",
        "server.address=db server.port=5432 db.namespace=orders, db/orders",
        "server.address=db server.port=5433 db.namespace=orders, db:5433/orders",
        // A port belongs to the address of its own convention.
        "server.address=db network.peer.port=15001, db",
        "server.address=db server.port=0, db",
        "server.address=db server.port=65536, db",
        "server.address=db server.port=x, db",
        "server.port=6380, ''",
      })
  void peerFollowsTheMappingTable(String attributes, String peer) throws Exception {
    var span = span(1, Span.CLIENT, 0, 1);
    for (String attribute : attributes.split(" ")) {
      String[] pair = attribute.split("=", 2);
      span.addAttributes(attribute(pair[0], pair[1]));
    }
    assertThat(peers(message(service("shop", span)))).containsExactly(peer);
  }

  @Test
  void portIsNumberOrText() throws Exception {
    for (KeyValue port :
        List.of(intAttribute("server.port", 6380), attribute("server.port", "6380"))) {
      var span =
          span(1, Span.CLIENT, 0, 1)
              .addAttributes(attribute("server.address", "a"))
              .addAttributes(port);
      // The next span says nothing of its own.
      var next = span(2, Span.CLIENT, 0, 1).addAttributes(attribute("server.address", "a"));
      assertThat(peers(message(service("shop", span, next)))).containsExactly("a:6380", "a");
    }
  }

  @Test
  void onlySpansOfTheClientSideHaveAPeer() throws Exception {
    for (int kind = 0; kind < 7; kind++) {
      var span = span(1, kind, 0, 1).addAttributes(attribute("server.address", "me"));
      boolean asks = kind == Span.CLIENT || kind == Span.PRODUCER;
      assertThat(peers(message(service("shop", span)))).containsExactly(asks ? "me" : "");
    }
  }

  @Test
  void spansOfOldInstrumentationLibrariesAreRead() throws Exception {
    // Field 1000, opentelemetry-proto until 0.19, is laid out as scope_spans.
    ResourceSpans whole = service("shop", span(1, Span.SERVER, 0, 1));
    byte[] old =
        field(
            1,
            concat(
                field(1, whole.getResource().toByteArray()),
                field(1_000, whole.getScopeSpans(0).toByteArray())));
    List<String> values = new ArrayList<>();
    decoder.decode(old, span -> values.add(span.service() + span.spanIdHex()));
    assertThat(values).containsExactly("shop0000000000000001");
  }

  @Test
  void instanceFallsBackToPodContainerAndHost() throws Exception {
    List<KeyValue> attributes =
        new ArrayList<>(
            List.of(
                attribute("host.name", "host"),
                attribute("container.id", "container"),
                attribute("k8s.pod.name", "pod"),
                attribute("service.instance.id", "instance")));
    for (String expected : List.of("instance", "pod", "container", "host")) {
      List<String> values = new ArrayList<>();
      decoder.decode(
          message(resource(attributes, span(1, Span.SERVER, 0, 1))),
          span -> values.add(span.instance()));
      assertThat(values).containsExactly(expected);
      attributes.remove(attributes.size() - 1);
    }
  }

  @Test
  void hostIsTheNodeElseTheHost() throws Exception {
    List<KeyValue> attributes =
        new ArrayList<>(
            List.of(
                attribute("container.id", "container"),
                attribute("host.name", "host"),
                attribute("host.id", "id"),
                attribute("k8s.node.name", "node")));
    for (String expected : List.of("node", "id", "host", "")) {
      List<String> values = new ArrayList<>();
      decoder.decode(
          message(resource(attributes, span(1, Span.SERVER, 0, 1))),
          span -> values.add(span.host()));
      assertThat(values).containsExactly(expected);
      attributes.remove(attributes.size() - 1);
    }
  }

  @Test
  void nameOfAnotherTypeThanStringIsNoName() throws Exception {
    KeyValue number =
        KeyValue.newBuilder()
            .setKey("service.name")
            .setValue(AnyValue.newBuilder().setIntValue(7))
            .build();
    List<String> services = new ArrayList<>();
    decoder.decode(
        message(resource(List.of(number), span(1, Span.SERVER, 0, 1))),
        span -> services.add(span.service()));
    assertThat(services).containsExactly("");
  }

  /** rows and bytes of a span, -1 where it does not say. */
  private List<Long> sizes(byte[] message) throws MalformedMessageException {
    List<Long> sizes = new ArrayList<>();
    decoder.decode(message, span -> sizes.addAll(List.of(span.rows(), span.dataBytes())));
    return sizes;
  }

  @ParameterizedTest
  @CsvSource({
    "db.response.returned_rows=12, 12, -1",
    "db.response.returned_rows=0, 0, -1",
    "http.request.body.size=100, -1, 100",
    "http.response.body.size=300, -1, 300",
    "http.request.body.size=100 http.response.body.size=300, -1, 400",
    "http.response.body.size=300 http.response_content_length=7, -1, 300",
    "http.response_content_length=7 http.response.body.size=300, -1, 300",
    "http.request_content_length=5 http.response_content_length=7, -1, 12",
    "messaging.message.body.size=64, -1, 64",
    "messaging.message.payload_size_bytes=65, -1, 65",
    "messaging.message_payload_size_bytes=66, -1, 66",
    "messaging.message.body.size=64 http.request.body.size=100, -1, 100",
    "messaging.message.body.size=64 http.response.body.size=10, -1, 74",
    "db.response.returned_rows=-1 http.response.body.size=-1, -1, -1",
    "db.response.returned_rows=-7 http.request.body.size=-1 http.response.body.size=9, -1, 9",
    "http.request.body.size=-1 http.request_content_length=5, -1, 5",
    "http.response.body.size=1099511627776, -1, 1099511627776", // 2^40
    "http.response.body.size=1099511627777, -1, -1",
    "db.response.returned_rows=9223372036854775807, -1, -1",
    "http.response.status_code=200 db.response.returned_rowz=1, -1, -1",
  })
  void sizesFollowTheMappingTable(String attributes, long rows, long bytes) throws Exception {
    var span = span(1, Span.CLIENT, 0, 1);
    for (String attribute : attributes.split(" ")) {
      String[] pair = attribute.split("=");
      span.addAttributes(intAttribute(pair[0], Long.parseLong(pair[1])));
    }
    // The next span says nothing of its own.
    assertThat(sizes(message(service("shop", span, span(2, Span.CLIENT, 0, 1)))))
        .containsExactly(rows, bytes, -1L, -1L);
  }

  @Test
  void sizeOfAnotherTypeThanIntIsNoSize() throws Exception {
    AnyValue seven = AnyValue.newBuilder().setIntValue(7).build();
    List<AnyValue> values =
        List.of(
            AnyValue.newBuilder().setStringValue("7").build(),
            AnyValue.newBuilder().setDoubleValue(7).build(),
            AnyValue.newBuilder().setBoolValue(true).build(),
            AnyValue.newBuilder().setArrayValue(ArrayValue.newBuilder().addValues(seven)).build(),
            AnyValue.getDefaultInstance());
    for (AnyValue value : values) {
      var span = span(1, Span.CLIENT, 0, 1);
      for (String name : List.of("db.response.returned_rows", "http.response.body.size")) {
        span.addAttributes(KeyValue.newBuilder().setKey(name).setValue(value));
      }
      assertThat(sizes(message(service("shop", span)))).containsExactly(-1L, -1L);
    }
  }

  @Test
  void sizeOfAResourceIsNobodys() throws Exception {
    List<KeyValue> resource =
        List.of(attribute("service.name", "shop"), intAttribute("http.request.body.size", 7));
    assertThat(sizes(message(resource(resource, span(1, Span.SERVER, 0, 1)))))
        .containsExactly(-1L, -1L);
  }

  @Test
  void namesOfAnyLengthAreCut() throws Exception {
    // Each row that a span becomes repeats its names: kept whole, one huge attribute fills memory.
    var span =
        span(1, Span.CLIENT, 0, 1)
            .addAttributes(attribute("server.address", "é".repeat(500_000)))
            .addAttributes(attribute("db.namespace", "n".repeat(500_000)));
    List<String> values = new ArrayList<>();
    decoder.decode(
        message(service("s".repeat(1_000_000), span)),
        decoded -> values.addAll(List.of(decoded.service(), decoded.peer())));
    // 256 bytes are 128 characters of two bytes
    assertThat(values).containsExactly("s".repeat(256), "é".repeat(128) + "/" + "n".repeat(256));
  }

  @Test
  void cutDoesNotSplitACharacter() throws Exception {
    List<String> values = new ArrayList<>();
    decoder.decode(
        message(service("s" + "é".repeat(200), span(1, Span.SERVER, 0, 1))),
        span -> values.add(span.service()));
    // "s" and 127 of two bytes are 255; half a character more would be 256
    assertThat(values).containsExactly("s" + "é".repeat(127));
  }

  @Test
  void resourceBehindItsSpansStillNamesThem() throws Exception {
    // The collector writes fields in descending order; protobuf allows any.
    ResourceSpans whole = service("shop", span(1, Span.SERVER, 0, 1));
    byte[] spansFirst =
        field(
            1,
            concat(
                field(2, whole.getScopeSpans(0).toByteArray()),
                field(1, whole.getResource().toByteArray())));
    List<String> services = new ArrayList<>();
    decoder.decode(spansFirst, span -> services.add(span.service()));
    assertThat(services).containsExactly("shop");
  }

  @Test
  void unknownFieldsAreSkipped() throws Exception {
    byte[] spans = message(service("shop", span(1, Span.SERVER, 0, 1)));
    byte[] unknown = field(99, new byte[] {'x'});
    assertThat(peers(concat(unknown, spans, unknown))).hasSize(1);
  }

  @Test
  void truncationAnywhereIsMalformedOrAShorterMessage() {
    byte[] message =
        message(
            service(
                "shop",
                span(1, Span.CLIENT, 0, 1).addAttributes(attribute("peer.service", "db")),
                Requests.failed(span(2, Span.SERVER, 0, 2))),
            service("cart", span(3, Span.SERVER, 0, 1)));
    int decoded = 0;
    for (int length = 0; length < message.length; length++) {
      try {
        decoder.decode(Arrays.copyOf(message, length), span -> {});
        decoded++;
      } catch (MalformedMessageException expected) {
        assertThat(expected).hasMessageContaining("byte");
      }
    }
    // Only at the two borders of top-level fields is what is left a message: none, and the first.
    assertThat(decoded).isEqualTo(2);
  }

  @Test
  void everyFlippedBitIsDecodedOrMalformed() {
    byte[] message =
        message(
            service(
                "shop", span(1, Span.CLIENT, 0, 1).addAttributes(attribute("db.name", "orders"))));
    for (int bit = 0; bit < 8 * message.length; bit++) {
      byte[] flipped = message.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      try {
        decoder.decode(
            flipped,
            span -> {
              span.traceIdHex();
              span.hasValidIds();
              span.parentId();
            });
      } catch (MalformedMessageException expected) {
        assertThat(expected).hasMessageMatching("(?s).+");
      }
    }
  }

  /** Fields by the numbers that lead to them from the request, and the wire type of span. */
  @ParameterizedTest
  @CsvSource({
    "1, 2", // resource_spans
    "1 1, 2", // resource
    "1 1 1, 2", // and its attributes
    "1 2, 2", // scope_spans
    "1 2 2, 2", // spans
    "1 2 2 1, 2", // trace_id
    "1 2 2 2, 2", // span_id
    "1 2 2 4, 2", // parent_span_id
    "1 2 2 5, 2", // name
    "1 2 2 6, 0", // kind
    "1 2 2 7, 1", // start_time_unix_nano
    "1 2 2 8, 1", // end_time_unix_nano
    "1 2 2 9, 2", // attributes
    "1 2 2 9 1, 2", // key
    "1 2 2 9 2, 2", // value
    "1 2 2 13, 2", // links
    "1 2 2 13 1, 2", // and their trace_id
    "1 2 2 15, 2", // status
    "1 2 2 15 3, 0", // and its code
  })
  void knownFieldOfAnotherWireTypeIsMalformed(String path, int rightType) throws Exception {
    int[] fields = Arrays.stream(path.split(" ")).mapToInt(Integer::parseInt).toArray();
    int last = fields.length - 1;
    for (int wireType = 0; wireType < 8; wireType++) {
      // As many zeros as a value of the type takes: with the right type they are legal.
      byte[] content = new byte[1 + new int[] {1, 8, 1, 0, 0, 4, 0, 0}[wireType]];
      content[0] = (byte) (fields[last] << 3 | wireType);
      for (int i = last - 1; i >= 0; i--) {
        content = field(fields[i], content);
      }
      byte[] message = content;
      if (wireType == rightType) {
        decoder.decode(message, span -> {});
        continue;
      }
      assertThatThrownBy(() -> decoder.decode(message, span -> {}))
          .as("wire type " + wireType)
          .isInstanceOf(MalformedMessageException.class);
    }
  }

  @Test
  void groupsTagZeroAndEndlessVarintsAreMalformed() {
    byte[] endless = new byte[12];
    Arrays.fill(endless, (byte) 0xFF);
    for (byte[] message : List.of(new byte[] {(1 << 3) | 3}, new byte[] {0, 0}, endless)) {
      assertThatThrownBy(() -> decoder.decode(message, span -> {}))
          .isInstanceOf(MalformedMessageException.class);
    }
  }

  @Test
  void lengthThatReachesOutsideItsParentIsMalformed() {
    // A span of declared length 100 inside a scope of 3 bytes, with 100 more bytes behind the
    // scope.
    byte[] message = concat(field(1, field(2, new byte[] {(2 << 3) | 2, 100, 0})), new byte[100]);
    assertThatThrownBy(() -> decoder.decode(message, span -> {}))
        .isInstanceOf(MalformedMessageException.class);
  }

  private static byte[] field(int number, byte[] content) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      CodedOutputStream out = CodedOutputStream.newInstance(bytes);
      out.writeBytes(number, ByteString.copyFrom(content));
      out.flush();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return bytes.toByteArray();
  }

  private static byte[] concat(byte[]... parts) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      bytes.writeBytes(part);
    }
    return bytes.toByteArray();
  }
}
