package dev.sluice.sinks;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.data.binary.BinaryRowData;

/**
 * Writes batches of Flink's rows without conversion. A batch that fails goes to the {@link
 * PatientWriter}, as plain values, until it is written.
 */
final class QuickWriter implements AutoCloseable {
  private final DirectTarget target;
  private final RowConverter converter;
  private final PatientWriter patient;
  private final PatientWriter.Observer observer;

  /**
   * @param patient on the same target
   */
  QuickWriter(
      DirectTarget target,
      RowConverter converter,
      PatientWriter patient,
      PatientWriter.Observer observer) {
    this.target = target;
    this.converter = converter;
    this.patient = patient;
    this.observer = observer;
  }

  /**
   * Returns when every row is written or set aside.
   *
   * @throws TableAtFaultException if the store takes no row
   */
  void write(List<BinaryRowData> rows) throws InterruptedException {
    if (rows.isEmpty() || goesAtOnce(rows)) {
      return;
    }
    List<Object[]> plain = new ArrayList<>(rows.size());
    for (BinaryRowData row : rows) {
      plain.add(converter.convert(row));
    }
    patient.write(plain);
  }

  private boolean goesAtOnce(List<BinaryRowData> rows) throws InterruptedException {
    observer.attempting();
    try {
      if (!target.writeDirect(rows)) {
        return false;
      }
    } catch (InterruptedException e) {
      throw e;
    } catch (RowsRejectedException | TooLargeException | TableAtFaultException e) {
      return false;
    } catch (Exception e) {
      if (Thread.interrupted()) {
        // Clients wrap the interrupt of a cancelled task into exceptions of their own.
        throw new InterruptedException("interrupted while writing");
      }
      observer.retried(e);
      return false;
    }
    observer.written(rows.size());
    patient.taken(converter.convert(rows.get(0)));
    return true;
  }

  @Override
  public void close() {
    patient.close();
  }
}
