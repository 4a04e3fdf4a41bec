package dev.sluice.otlp;

import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.failed;
import static dev.sluice.otlp.Requests.intAttribute;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.common.v1.KeyValue;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which completions are errors. */
class ResponseCodeTest {
  /** Of a span whose status is not set, and of the same with status ERROR. */
  private static List<Boolean> errors(KeyValue... attributes) throws Exception {
    var unset = span(1, Span.SERVER, 0, 10).addAllAttributes(List.of(attributes));
    List<Boolean> errors = new ArrayList<>();
    new TraceRequestDecoder()
        .decode(
            message(service("cart", unset, failed(unset.clone()))),
            span -> errors.add(span.isError()));
    return errors;
  }

  @ParameterizedTest
  @CsvSource({
    "200,false,true",
    "302,false,true",
    "400,false,false",
    "404,false,false",
    "408,true,true",
    "429,true,true",
    "499,false,false",
    "500,true,true",
    "503,true,true",
    "700,false,true",
    "0,false,true",
    "-1,false,true"
  })
  void ofHttp(long code, boolean unset, boolean failed) throws Exception {
    List<Boolean> expected = List.of(unset, failed);
    assertThat(errors(intAttribute("http.response.status_code", code))).isEqualTo(expected);
    assertThat(errors(intAttribute("http.status_code", code))).isEqualTo(expected);
    // Envoy's are text.
    assertThat(errors(attribute("http.status_code", String.valueOf(code)))).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "0,OK,false,true",
    "1,CANCELLED,false,false",
    "2,UNKNOWN,false,true",
    "3,INVALID_ARGUMENT,false,false",
    "4,DEADLINE_EXCEEDED,true,true",
    "5,NOT_FOUND,false,false",
    "6,ALREADY_EXISTS,false,false",
    "7,PERMISSION_DENIED,false,false",
    "8,RESOURCE_EXHAUSTED,true,true",
    "9,FAILED_PRECONDITION,false,false",
    "10,ABORTED,false,true",
    "11,OUT_OF_RANGE,false,false",
    "12,UNIMPLEMENTED,false,true",
    "13,INTERNAL,true,true",
    "14,UNAVAILABLE,true,true",
    "15,DATA_LOSS,false,true",
    "16,UNAUTHENTICATED,false,false",
    "17,-32602,false,true"
  })
  void ofRpcs(long code, String name, boolean unset, boolean failed) throws Exception {
    List<Boolean> expected = List.of(unset, failed);
    assertThat(errors(intAttribute("rpc.grpc.status_code", code))).isEqualTo(expected);
    assertThat(errors(attribute("rpc.response.status_code", name))).isEqualTo(expected);
    assertThat(errors(attribute("rpc.connect_rpc.error_code", name.toLowerCase())))
        .isEqualTo(expected);
    assertThat(errors(attribute("grpc.status_code", String.valueOf(code)))).isEqualTo(expected);
  }

  @Test
  void theRpcsCodeGoesBeforeThatOfTheHttpBelowIt() throws Exception {
    assertThat(
            errors(
                intAttribute("http.response.status_code", 200),
                intAttribute("rpc.grpc.status_code", 8)))
        .containsExactly(true, true);
    assertThat(
            errors(
                intAttribute("http.response.status_code", 503),
                intAttribute("rpc.grpc.status_code", 5)))
        .containsExactly(false, false);
  }

  @Test
  void theNewNameGoesBeforeTheOld() throws Exception {
    assertThat(
            errors(
                intAttribute("http.status_code", 500),
                intAttribute("http.response.status_code", 404)))
        .containsExactly(false, false);
  }

  @Test
  void withoutACodeTheStatusDecides() throws Exception {
    assertThat(errors()).containsExactly(false, true);
    assertThat(errors(attribute("http.response.status_code", "teapot")))
        .containsExactly(false, true);
  }
}
