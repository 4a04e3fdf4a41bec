package dev.sluice.sinks.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import dev.sluice.sinks.Secret;
import dev.sluice.sinks.SettingException;
import dev.sluice.sinks.TlsServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Of the real engine by TLS: tests/soak/test_secure_programs.py. */
@Timeout(60)
class ClickHouseServerTest {
  @TempDir Path folder;
  private volatile String query = "";

  /** As ClickHouse answers: only the user `jobs` with the password `right` is let in. */
  private void answer(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    byte[] login = "jobs:right".getBytes(StandardCharsets.UTF_8);
    String wanted = "Basic " + Base64.getEncoder().encodeToString(login);
    boolean right = wanted.equals(exchange.getRequestHeaders().getFirst("Authorization"));
    byte[] body = new byte[0];
    if (right) {
      String database = exchange.getRequestHeaders().getFirst("X-ClickHouse-Database");
      query = database + ": " + exchange.getRequestURI().getQuery();
    } else {
      body =
          "Code: 516. DB::Exception: jobs: Authentication failed".getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("X-ClickHouse-Exception-Code", "516");
    }
    exchange.sendResponseHeaders(right ? 200 : 403, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static void insert(ClickHouseServer server) throws Exception {
    server.insertJson("t", List.of("{}".getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void saysWhichSettingKeepsItOutAndGoesOnOnceThatIsPutRight() throws Exception {
    Path authority = folder.resolve("ca.pem");
    Path password = Files.writeString(folder.resolve("password"), "wrong");
    try (TlsServer other = new TlsServer(folder.resolve("other"), this::answer);
        TlsServer there = new TlsServer(folder.resolve("there"), this::answer);
        ClickHouseServer server = server(List.of("https://127.0.0.1:" + there.port()))) {
      assertThatThrownBy(() -> insert(server))
          .isInstanceOf(SettingException.class)
          .hasMessage(
              "read SLUICE_CLICKHOUSE_CA=" + authority + ": there is no such file on this host");
      Files.writeString(authority, "nonsense");
      assertThatThrownBy(() -> insert(server))
          .isInstanceOf(SettingException.class)
          .hasMessageStartingWith("read SLUICE_CLICKHOUSE_CA=" + authority + ": ");
      Files.writeString(authority, other.certificate);
      String untrusted =
          "TLS with https://127.0.0.1:"
              + there.port()
              + " fails, SLUICE_CLICKHOUSE_CA="
              + authority;
      assertThatThrownBy(() -> insert(server))
          .isInstanceOf(SettingException.class)
          .hasMessageStartingWith(untrusted);
      Files.writeString(authority, there.certificate);
      assertThatThrownBy(() -> insert(server))
          .isInstanceOf(SettingException.class)
          .hasMessageContaining(
              "refuses SLUICE_CLICKHOUSE_USER=jobs with the password of " + password)
          .hasMessageContaining("Authentication failed");
      assertThat(query).isEmpty();
      Files.writeString(password, "right");
      insert(server);
      assertThat(query).startsWith("calls: ").endsWith("INSERT INTO t FORMAT JSONEachRow");
    }
  }

  @Test
  void goesOnWithTheAddressThatAnswers() throws Exception {
    Files.writeString(folder.resolve("password"), "right");
    try (TlsServer there = new TlsServer(folder.resolve("there"), this::answer);
        TlsServer dead = new TlsServer(folder.resolve("dead"), this::answer);
        ClickHouseServer server = server(urls(dead, there))) {
      Files.writeString(folder.resolve("ca.pem"), there.certificate);
      dead.close();
      assertThatThrownBy(() -> insert(server)).isNotInstanceOf(SettingException.class);
      insert(server);
      insert(server);
      assertThat(query).startsWith("calls: ").endsWith("INSERT INTO t FORMAT JSONEachRow");
    }
  }

  private static List<String> urls(TlsServer... servers) {
    return Arrays.stream(servers).map(s -> "https://127.0.0.1:" + s.port()).toList();
  }

  private ClickHouseServer server(List<String> urls) {
    Secret secret = new Secret("", folder.resolve("password").toString(), "");
    String authority = folder.resolve("ca.pem").toString();
    return new ClickHouseServer(
        new ClickHouseAddress(urls, "calls", "jobs", secret, authority, ""));
  }
}
