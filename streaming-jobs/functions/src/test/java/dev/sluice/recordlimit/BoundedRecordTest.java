package dev.sluice.recordlimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BoundedRecordTest {
  private static final int LIMIT = 2_000;

  @BeforeEach
  void limit() {
    Limits.set(new Limits(LIMIT, 3_000));
    PollBudget.begin();
  }

  @AfterEach
  void defaults() {
    Limits.set(Limits.DEFAULT);
  }

  /** A record of {@code size} bytes whose offset is 3 and time 200 after its batch's. */
  private static byte[] record(int size) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int zigzag = size << 1;
    for (; zigzag > 0x7F; zigzag >>>= 7) {
      out.write(zigzag & 0x7F | 0x80);
    }
    out.write(zigzag);
    out.writeBytes(HexFormat.of().parseHex("00900306")); // attributes 0, 200 and 3 as zigzag
    byte[] rest = new byte[size - 4];
    Arrays.fill(rest, (byte) 'x');
    out.writeBytes(rest);
    return out.toByteArray();
  }

  @Test
  void aRecordOfTheLimitIsTheSameBytes() throws IOException {
    InputStream in = new ByteArrayInputStream(record(LIMIT));
    assertThat(BoundedRecord.of(in).readAllBytes()).isEqualTo(record(LIMIT));
  }

  @Test
  void aLargerOneKeepsItsPlaceAndTheNextOneIsReadWhole() throws IOException {
    ByteArrayOutputStream batch = new ByteArrayOutputStream();
    batch.writeBytes(record(LIMIT + 1));
    batch.writeBytes(record(100));
    InputStream in = new ByteArrayInputStream(batch.toByteArray());
    byte[] value = new OversizeRecord(LIMIT + 1, LIMIT).encode();
    // 33 bytes of value: size 1+2+1 + no key 1 + length 1 + 33 + no headers 1 = 40, as zigzag 80.
    assertThat(value).hasSize(33);
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    expected.writeBytes(HexFormat.of().parseHex("50" + "00900306" + "01" + "42"));
    expected.writeBytes(value);
    expected.write(0);
    assertThat(BoundedRecord.of(in).readAllBytes()).isEqualTo(expected.toByteArray());
    assertThat(BoundedRecord.of(in).readNBytes(102)).isEqualTo(record(100));
  }

  @Test
  void theLargestSizeThereIsNeedsNoRoom() throws IOException {
    InputStream endless =
        new InputStream() {
          private final byte[] head = HexFormat.of().parseHex("feffffff0f00900306");
          private int read;

          @Override
          public int read() {
            return read < head.length ? head[read++] & 0xFF : 0;
          }

          @Override
          public int read(byte[] bytes, int from, int count) {
            return count;
          }
        };
    byte[] standIn = BoundedRecord.of(endless).readAllBytes();
    assertThat(OversizeRecord.decode(Arrays.copyOfRange(standIn, 7, 40)))
        .isEqualTo(new OversizeRecord(Integer.MAX_VALUE, LIMIT));
  }

  @Test
  void whatEndsEarlyOrHasANegativeSizeIsLeftToTheClient() throws IOException {
    for (String bytes : new String[] {"", "80", "01", "ffffffffff"}) {
      byte[] batch = HexFormat.of().parseHex(bytes);
      assertThat(BoundedRecord.of(new ByteArrayInputStream(batch)).readAllBytes()).isEqualTo(batch);
    }
    byte[] cut = Arrays.copyOf(record(LIMIT + 1), LIMIT);
    assertThatThrownBy(() -> BoundedRecord.of(new ByteArrayInputStream(cut)))
        .isInstanceOf(EOFException.class);
  }

  @Test
  void aPollIsSpentWithTheRecordThatReachesItsSum() throws IOException {
    assertThat(PollBudget.taken(7)).isEqualTo(7);
    BoundedRecord.of(new ByteArrayInputStream(record(1_999)));
    BoundedRecord.of(new ByteArrayInputStream(record(1_000)));
    assertThat(PollBudget.isSpent()).isFalse();
    BoundedRecord.of(new ByteArrayInputStream(record(5_000))); // stands for itself, and is small
    assertThat(PollBudget.isSpent()).isFalse();
    BoundedRecord.of(new ByteArrayInputStream(record(10)));
    assertThat(PollBudget.isSpent()).isTrue();
    assertThat(100 - PollBudget.taken(1)).isNegative();
    PollBudget.begin();
    assertThat(PollBudget.isSpent()).isFalse();
  }

  @Test
  void onlyWhatWasEncodedIsAnOversizeRecord() {
    byte[] value = new OversizeRecord(500_000_000, 7).encode();
    assertThat(OversizeRecord.decode(value)).isEqualTo(new OversizeRecord(500_000_000, 7));
    assertThat(OversizeRecord.decode(null)).isNull();
    assertThat(OversizeRecord.decode(new byte[value.length])).isNull();
    assertThat(OversizeRecord.decode(Arrays.copyOf(value, value.length + 1))).isNull();
    assertThat(OversizeRecord.decode(Arrays.copyOf(value, value.length - 1))).isNull();
  }
}
