package dev.sluice.bounds;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The variants of one thing in one window that count separately: the first ones of each, up to a
 * limit. Variants are identified by 64 bits of their hash: two with the same hash both count
 * separately, so that the bound is exceeded by one.
 *
 * <p>It remembers {@value #ROOTS} things and windows, the most recently used ones.
 */
public final class Variants {
  /** The kind of request, as the operation of a service, and the window. */
  public record Root(String service, String operation, long windowMs) {}

  static final int ROOTS = 20_000;

  private static final Hasher64 HASHER = Hashing.xxh3_64(0x51ce);

  private final int most;
  private final Map<Root, Set<Long>> roots =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Root, Set<Long>> eldest) {
          return size() > ROOTS;
        }
      };

  // The root that was used last is the last to be forgotten: it needs no look-up.
  private Root lastRoot;
  private Set<Long> last;

  /**
   * @param most variants of each root
   */
  public Variants(int most) {
    this.most = most;
  }

  /** The hash that identifies a variant. */
  public static long hash(String variant) {
    return HASHER.hashCharsToLong(variant);
  }

  /** Whether the variant counts separately; from now on it does if there is room. */
  public boolean isSeparate(Root root, String variant) {
    return isSeparate(root, hash(variant));
  }

  /**
   * The same of a variant whose hash is known.
   *
   * @param hash by {@link #hash}
   */
  public boolean isSeparate(Root root, long hash) {
    if (!root.equals(lastRoot)) {
      last = roots.computeIfAbsent(root, absent -> new HashSet<>());
      lastRoot = root;
    }
    Set<Long> known = last;
    if (known.contains(hash)) {
      return true;
    }
    if (known.size() >= most) {
      return false;
    }
    known.add(hash);
    return true;
  }

  /** All variants, for {@link #restore}. */
  public byte[] snapshot() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      for (Map.Entry<Root, Set<Long>> variants : roots.entrySet()) {
        out.writeUTF(variants.getKey().service());
        out.writeUTF(variants.getKey().operation());
        out.writeLong(variants.getKey().windowMs());
        out.writeInt(variants.getValue().size());
        for (long hash : variants.getValue()) {
          out.writeLong(hash);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("write variants to memory", e);
    }
    return bytes.toByteArray();
  }

  /** Adds a snapshot. */
  public void restore(byte[] snapshot) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(snapshot))) {
      while (in.available() > 0) {
        Root root = new Root(in.readUTF(), in.readUTF(), in.readLong());
        Set<Long> known = roots.computeIfAbsent(root, absent -> new HashSet<>());
        for (int left = in.readInt(); left > 0; left--) {
          known.add(in.readLong());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("read variants from memory", e);
    }
  }
}
