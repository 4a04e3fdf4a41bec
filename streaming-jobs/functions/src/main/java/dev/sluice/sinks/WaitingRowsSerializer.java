package dev.sluice.sinks;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Version 1: the number of columns and their names, the number of rows and their values, each value
 * after a byte with its type. Numbers are big endian; texts are their length in bytes and UTF-8.
 */
final class WaitingRowsSerializer implements SimpleVersionedSerializer<WaitingRows> {
  private static final int VERSION = 1;
  private static final byte NULL = 0;
  private static final byte TRUE = 1;
  private static final byte FALSE = 2;
  private static final byte INT = 3;
  private static final byte LONG = 4;
  private static final byte DOUBLE = 5;
  private static final byte TEXT = 6;

  @Override
  public int getVersion() {
    return VERSION;
  }

  @Override
  public byte[] serialize(WaitingRows waiting) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(waiting.columns().size());
    for (String column : waiting.columns()) {
      writeText(out, column);
    }
    out.writeInt(waiting.rows().size());
    for (Object[] row : waiting.rows()) {
      for (Object value : row) {
        write(out, value);
      }
    }
    return bytes.toByteArray();
  }

  @Override
  public WaitingRows deserialize(int version, byte[] serialized) throws IOException {
    if (version != VERSION) {
      throw new IOException("read waiting rows: version " + version + ", known is " + VERSION);
    }
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(serialized));
    List<String> columns = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      columns.add(readText(in));
    }
    List<Object[]> rows = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      Object[] row = new Object[columns.size()];
      for (int i = 0; i < row.length; i++) {
        row[i] = read(in);
      }
      rows.add(row);
    }
    return new WaitingRows(columns, rows);
  }

  private static void write(DataOutputStream out, Object value) throws IOException {
    if (value == null) {
      out.writeByte(NULL);
    } else if (value instanceof Boolean flag) {
      out.writeByte(flag ? TRUE : FALSE);
    } else if (value instanceof Integer number) {
      out.writeByte(INT);
      out.writeInt(number);
    } else if (value instanceof Long number) {
      out.writeByte(LONG);
      out.writeLong(number);
    } else if (value instanceof Double number) {
      out.writeByte(DOUBLE);
      out.writeDouble(number);
    } else if (value instanceof String text) {
      out.writeByte(TEXT);
      writeText(out, text);
    } else {
      throw new IOException("write waiting rows: a value of " + value.getClass());
    }
  }

  private static Object read(DataInputStream in) throws IOException {
    byte type = in.readByte();
    return switch (type) {
      case NULL -> null;
      case TRUE -> true;
      case FALSE -> false;
      case INT -> in.readInt();
      case LONG -> in.readLong();
      case DOUBLE -> in.readDouble();
      case TEXT -> readText(in);
      default -> throw new IOException("read waiting rows: a value of type " + type);
    };
  }

  private static void writeText(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static String readText(DataInputStream in) throws IOException {
    byte[] bytes = new byte[in.readInt()];
    in.readFully(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
