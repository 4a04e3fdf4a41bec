package dev.sluice.stock;

import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Calls TARGET without a pause, and writes a line of JSON a second: who answered how often since it began, and the
 * failures, as {@code tests/kit/sluice_kit/applications/stock_caller.py} does. Nothing of Sluice is in it. A bootstrap is in
 * GRPC_XDS_BOOTSTRAP_CONFIG.
 */
public final class Caller {
  /** Of one call: a client that has nobody to call waits, and fails at the end. */
  private static final long LIMIT_S = 20;

  private static final MethodDescriptor.Marshaller<byte[]> BYTES =
      new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
          return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
          try {
            return stream.readAllBytes();
          } catch (IOException cause) {
            throw new UncheckedIOException(cause);
          }
        }
      };

  private static final MethodDescriptor<byte[], byte[]> METHOD =
      MethodDescriptor.newBuilder(BYTES, BYTES)
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName("stock.Backend/Name")
          .build();

  private Caller() {}

  public static void main(String[] arguments) throws InterruptedException {
    ManagedChannel channel =
        Grpc.newChannelBuilder(arguments[0], InsecureChannelCredentials.create()).build();
    Map<String, Long> answers = new TreeMap<>();
    List<String> failures = new ArrayList<>();
    long due = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
    while (true) {
      CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(LIMIT_S, TimeUnit.SECONDS);
      try {
        byte[] name = ClientCalls.blockingUnaryCall(channel, METHOD, options, new byte[0]);
        answers.merge(new String(name, StandardCharsets.UTF_8), 1L, Long::sum);
      } catch (StatusRuntimeException cause) {
        failures.add(cause.getMessage());
      }
      Thread.sleep(2);
      if (System.nanoTime() >= due) {
        due += TimeUnit.SECONDS.toNanos(1);
        System.out.println("{\"answers\": {" + counts(answers) + "}, \"failures\": [" + quoted(failures) + "]}");
      }
    }
  }

  private static String counts(Map<String, Long> answers) {
    return answers.entrySet().stream()
        .map(each -> quote(each.getKey()) + ": " + each.getValue())
        .collect(Collectors.joining(", "));
  }

  private static String quoted(List<String> texts) {
    return texts.stream().map(Caller::quote).collect(Collectors.joining(", "));
  }

  /** Without what JSON would want escaped. */
  private static String quote(String text) {
    return '"' + text.replaceAll("[\"\\\\\\p{Cntrl}]", " ") + '"';
  }
}
