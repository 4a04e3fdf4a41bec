package dev.sluice.recordlimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** On the classes of the Kafka connector that the jobs run with. */
class WeaverTest {
  private static final String KAFKA = "org.apache.flink.kafka.shaded.org.apache.kafka.";
  private static final String DEFAULT_RECORD = KAFKA + "common.record.DefaultRecord";

  private final List<String> said = new ArrayList<>();
  private final Weaver weaver = new Weaver(said::add);

  /** Loads the client's classes anew, as the agent would change them. */
  private final class Woven extends ClassLoader {
    Woven() {
      super(WeaverTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(KAFKA)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : define(name);
      }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      byte[] bytes = bytesOf(name.replace('.', '/'));
      byte[] woven = weaver.transform(this, name.replace('.', '/'), null, null, bytes);
      byte[] used = woven == null ? bytes : woven;
      return defineClass(name, used, 0, used.length);
    }
  }

  private static byte[] bytesOf(String name) throws ClassNotFoundException {
    try (InputStream in = WeaverTest.class.getClassLoader().getResourceAsStream(name + ".class")) {
      return in.readAllBytes();
    } catch (IOException | NullPointerException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  @AfterEach
  void defaults() {
    Limits.set(Limits.DEFAULT);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "common.record.DefaultRecord",
        "clients.consumer.internals.CompletedFetch",
        "clients.consumer.internals.FetchCollector"
      })
  void eachClassIsChangedAndVerified(String name) throws ReflectiveOperationException {
    Class<?> woven = Class.forName(KAFKA + name, true, new Woven());
    assertThat(woven.getDeclaredMethods()).isNotEmpty(); // which links it
    assertThat(said).contains(woven.getName().replace('.', '/') + " is bounded");
  }

  @Test
  void theClientGivesWhatStandsForARecordThatIsTooLarge() throws ReflectiveOperationException {
    Limits.set(new Limits(1_024, 1_024));
    Class<?> record = Class.forName(DEFAULT_RECORD, true, new Woven());
    // 2000 bytes, offset + 3, time + 200.
    byte[] batch = new byte[2_002];
    System.arraycopy(HexFormat.of().parseHex("a01f00900306"), 0, batch, 0, 6);
    Object read =
        record
            .getMethod("readFrom", InputStream.class, long.class, long.class, int.class, Long.class)
            .invoke(null, new ByteArrayInputStream(batch), 1_000L, 5_000L, 0, null);
    assertThat(record.getMethod("offset").invoke(read)).isEqualTo(1_003L);
    assertThat(record.getMethod("timestamp").invoke(read)).isEqualTo(5_200L);
    ByteBuffer value = (ByteBuffer) record.getMethod("value").invoke(read);
    byte[] bytes = new byte[value.remaining()];
    value.get(bytes);
    assertThat(OversizeRecord.decode(bytes)).isEqualTo(new OversizeRecord(2_000, 1_024));
  }

  @Test
  void aClassThatIsNotAsExpectedStaysAsItIsAndThatIsSaid() throws ClassNotFoundException {
    // Any other class under the name of one that is to be changed.
    byte[] other = bytesOf(WeaverTest.class.getName().replace('.', '/'));
    String name = "shaded/org/apache/kafka/common/record/DefaultRecord";
    assertThat(weaver.transform(getClass().getClassLoader(), name, null, null, other)).isNull();
    assertThat(said).containsExactly(name + " has no readFrom as expected: no limit");
    assertThat(weaver.transform(getClass().getClassLoader(), name, null, null, new byte[3]))
        .isNull();
    assertThat(said.get(1)).startsWith(name + " cannot be changed: no limit: ");
    assertThat(weaver.transform(null, "java/util/List", null, null, other)).isNull();
    assertThat(said).hasSize(2);
  }
}
