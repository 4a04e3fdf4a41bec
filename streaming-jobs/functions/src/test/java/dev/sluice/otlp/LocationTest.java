package dev.sluice.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocationTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      value = {
        "http://pay:8080/v1 pay 8080",
        "HTTPS://pay pay 0",
        "http://pay?q=http://x:1/ pay 0",
        "http://pay#a@b pay 0",
        "http://user:p@ss@pay:81 pay 81",
        "http:///v1 '' 0",
        "http://[fd00::1]:81/ fd00::1 81",
        "http://[fd00::1]/ fd00::1 0",
        "http://[fd00::1 '' 0",
        "http://pay:/ pay 0",
        "http://pay:99999/ pay 0",
        "jdbc:mysql://db:3307/shop?user=a db 3307",
        "jdbc:sqlserver://db:1434;databaseName=shop db 1434",
        "mongodb://u:p@m1:27017,m2:27018/shop m1 27017",
        "pay:8080 pay 8080",
        "pay pay 0",
        "/v1 '' 0",
        "shop/pay/8080/da39 shop/pay/8080/da39 0",
        "::1 ::1 0",
        "[::1]:80 ::1 80",
        "outbound|8080||pay.shop pay.shop 8080",
        "outbound|8080|v1|pay.shop outbound|8080|v1|pay.shop 0",
        "a|b a|b 0",
        "Server=sql-1,1433;Database=shop sql-1 1433",
        "Server=tcp:sql-1,1433;Database=shop sql-1 1433",
        "Database=shop;Host=sql-1;Port=5433 sql-1 5433",
        "'host=sql-1 port=5433 dbname=shop' sql-1 5433",
        "'Data Source=sql-1;User=a' sql-1 0",
        "Database=shop;DataServer=x '' 0",
      })
  void readsWhereATextLeads(String text, String address, int port) {
    assertThat(Location.of(text)).isEqualTo(new Location(address, port));
  }

  @Property
  void anyTextLeadsSomewhereOrNowhere(@ForAll String text) {
    assertThat(Location.of(text).port()).isBetween(0, 65_535);
    assertThat(Location.of("x://" + text).port()).isBetween(0, 65_535);
    assertThat(Location.of("Host=" + text).port()).isBetween(0, 65_535);
  }
}
