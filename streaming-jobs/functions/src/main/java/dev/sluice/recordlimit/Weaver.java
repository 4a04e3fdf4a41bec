package dev.sluice.recordlimit;

import static org.objectweb.asm.Opcodes.ACONST_NULL;
import static org.objectweb.asm.Opcodes.ALOAD;
import static org.objectweb.asm.Opcodes.ARETURN;
import static org.objectweb.asm.Opcodes.ASM9;
import static org.objectweb.asm.Opcodes.ASTORE;
import static org.objectweb.asm.Opcodes.F_SAME;
import static org.objectweb.asm.Opcodes.IFEQ;
import static org.objectweb.asm.Opcodes.INVOKESTATIC;
import static org.objectweb.asm.Opcodes.INVOKEVIRTUAL;
import static org.objectweb.asm.Opcodes.NOP;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.function.Consumer;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;

/**
 * Puts calls of {@link BoundedRecord} and {@link PollBudget} into three classes of Kafka's client,
 * under whatever package it was relocated to. A class that is not as expected stays as it is, and
 * that is said: a client without a limit reads all the same.
 */
final class Weaver implements ClassFileTransformer {
  private static final String RECORD = name(BoundedRecord.class);
  private static final String BUDGET = name(PollBudget.class);

  /** What is done to the code of a method; {@code places} is how many calls that must put in. */
  private record Change(String method, String descriptor, int places, Wrapping wrapping) {}

  /** A visitor that puts calls into what it passes on, and reports each. */
  private interface Wrapping {
    MethodVisitor around(MethodVisitor code, Runnable woven);
  }

  private static final Map<String, Change> CHANGES =
      Map.of(
          // Kafka 4.1 moved it from record to record.internal.
          "org/apache/kafka/common/record/DefaultRecord",
          new Change("readFrom", "(Ljava/io/InputStream;JJI", 1, Weaver::boundRecord),
          "org/apache/kafka/common/record/internal/DefaultRecord",
          new Change("readFrom", "(Ljava/io/InputStream;JJI", 1, Weaver::boundRecord),
          "org/apache/kafka/clients/consumer/internals/CompletedFetch",
          new Change("nextFetchedRecord", "(", 1, Weaver::endWithTheBudget),
          "org/apache/kafka/clients/consumer/internals/FetchCollector",
          new Change("collectFetch", "(", 2, Weaver::takeOffTheBudget));

  private final Consumer<String> say;

  Weaver(Consumer<String> say) {
    this.say = say;
  }

  @Override
  public byte[] transform(
      ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
    Change change = name == null ? null : change(name);
    if (change == null) {
      return null;
    }
    try {
      // The calls must be found from where the client is.
      Class.forName(BoundedRecord.class.getName(), false, loader);
      byte[] woven = weave(bytes, change);
      say.accept(
          woven == null
              ? name + " has no " + change.method + " as expected: no limit"
              : name + " is bounded");
      return woven;
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      say.accept(name + " cannot be changed: no limit: " + e);
      return null;
    }
  }

  private static Change change(String name) {
    int kafka = name.indexOf("org/apache/kafka/");
    return kafka < 0 ? null : CHANGES.get(name.substring(kafka));
  }

  /** The class with the change, or null where it did not find its places. */
  private static byte[] weave(byte[] bytes, Change change) {
    ClassReader reader = new ClassReader(bytes);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    int[] places = new int[1];
    ClassVisitor visitor =
        new ClassVisitor(ASM9, writer) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor code = super.visitMethod(access, name, descriptor, signature, exceptions);
            return name.equals(change.method) && descriptor.startsWith(change.descriptor)
                ? change.wrapping.around(code, () -> places[0]++)
                : code;
          }
        };
    reader.accept(visitor, 0);
    return places[0] == change.places ? writer.toByteArray() : null;
  }

  /**
   * {@code in = BoundedRecord.of(in)}, where {@code in} is the first argument of a static method.
   */
  private static MethodVisitor boundRecord(MethodVisitor code, Runnable woven) {
    return new MethodVisitor(ASM9, code) {
      @Override
      public void visitCode() {
        super.visitCode();
        super.visitVarInsn(ALOAD, 0);
        super.visitMethodInsn(
            INVOKESTATIC, RECORD, "of", "(Ljava/io/InputStream;)Ljava/io/InputStream;", false);
        super.visitVarInsn(ASTORE, 0);
        woven.run();
      }
    };
  }

  /** {@code if (PollBudget.isSpent()) return null}: there is no further record for now. */
  private static MethodVisitor endWithTheBudget(MethodVisitor code, Runnable woven) {
    return new MethodVisitor(ASM9, code) {
      @Override
      public void visitCode() {
        super.visitCode();
        Label goOn = new Label();
        super.visitMethodInsn(INVOKESTATIC, BUDGET, "isSpent", "()Z", false);
        super.visitJumpInsn(IFEQ, goOn);
        super.visitInsn(ACONST_NULL);
        super.visitInsn(ARETURN);
        super.visitLabel(goOn);
        super.visitFrame(F_SAME, 0, null, 0, null);
        super.visitInsn(NOP); // the method's own first frame may follow at once
        woven.run();
      }
    };
  }

  /** {@code PollBudget.begin()}, and {@code remaining -= PollBudget.taken(fetch.numRecords())}. */
  private static MethodVisitor takeOffTheBudget(MethodVisitor code, Runnable woven) {
    return new MethodVisitor(ASM9, code) {
      @Override
      public void visitCode() {
        super.visitCode();
        super.visitMethodInsn(INVOKESTATIC, BUDGET, "begin", "()V", false);
        woven.run();
      }

      @Override
      public void visitMethodInsn(
          int opcode, String owner, String name, String descriptor, boolean isInterface) {
        super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
        if (opcode == INVOKEVIRTUAL && name.equals("numRecords") && descriptor.equals("()I")) {
          super.visitMethodInsn(INVOKESTATIC, BUDGET, "taken", "(I)I", false);
          woven.run();
        }
      }
    };
  }

  private static String name(Class<?> type) {
    return type.getName().replace('.', '/');
  }
}
