package dev.sluice.flink;

import dev.sluice.paths.ServiceTotals;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** {@link ServiceTotals} in Flink's state. */
public final class ServiceTotalsSerializer extends EncodedSerializer<ServiceTotals> {
  private static final long serialVersionUID = 1L;

  @Override
  public ServiceTotals createInstance() {
    return new ServiceTotals();
  }

  @Override
  public ServiceTotals copy(ServiceTotals from) {
    ServiceTotals copy = new ServiceTotals();
    copy.add(from);
    return copy;
  }

  @Override
  public void serialize(ServiceTotals totals, DataOutputView target) throws IOException {
    totals.write(target);
  }

  @Override
  public ServiceTotals deserialize(DataInputView source) throws IOException {
    return ServiceTotals.read(source);
  }

  @Override
  public TypeSerializerSnapshot<ServiceTotals> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format has no parameters. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<ServiceTotals> {
    public Snapshot() {
      super(ServiceTotalsSerializer::new);
    }
  }
}
