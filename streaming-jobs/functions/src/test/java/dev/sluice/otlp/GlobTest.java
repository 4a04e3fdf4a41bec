package dev.sluice.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.Chars;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GlobTest {
  @ParameterizedTest
  @CsvSource({
    "/health,/health,true",
    "/health,/healthz,false",
    "/health,/Health,false",
    "/health*,/health,true",
    "/health/*,/health/live,true",
    "/health/*,/health,false",
    "*.getConnection,HikariDataSource.getConnection,true",
    "*.getConnection,getConnection,false",
    "*grpc.health.v1.Health/*,/grpc.health.v1.Health/Check,true",
    "*,'',true",
    "a*a,a,false",
    "a*b*c,a1b2c,true",
    "a*b*c,a1c2b,false",
    "é*,été,true"
  })
  void examples(String glob, String text, boolean matches) {
    assertThat(new Glob(glob).matches(text)).isEqualTo(matches);
  }

  @Property
  void isTheRegularExpressionWithAnyTextForEachStar(
      @ForAll @Chars({'a', 'b', '*'}) @StringLength(max = 6) String glob,
      @ForAll @CharRange(from = 'a', to = 'b') @StringLength(max = 8) String text) {
    String expression = glob.replace("*", ".*");
    assertThat(new Glob(glob).matches(text)).isEqualTo(Pattern.matches(expression, text));
  }
}
