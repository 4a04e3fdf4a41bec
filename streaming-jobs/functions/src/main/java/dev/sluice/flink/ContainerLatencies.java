package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;
import static dev.sluice.flink.Rows.time;

import dev.sluice.accounting.MessageReader;
import dev.sluice.samples.Sample;
import dev.sluice.samples.SampleAccumulator;
import dev.sluice.samples.Site;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.TableFunction;

/**
 * SQL {@code container_latencies(message, record_time, repeated)}: turns one message into partial
 * latency samples, and its accounts. Of the three columns exactly one is not NULL in each row.
 */
@FunctionHint(
    output =
        @DataTypeHint(
            value =
                "ROW<sample ROW<service STRING NOT NULL, instance STRING NOT NULL,"
                    + " host STRING NOT NULL, window_start TIMESTAMP_LTZ(3) NOT NULL,"
                    + " requests BIGINT NOT NULL, errors BIGINT NOT NULL, ln_sum BIGINT NOT NULL,"
                    + " ln_sum2 BIGINT NOT NULL, latency BYTES NOT NULL>, counted "
                    + Rows.COUNTED
                    + ", rejected "
                    + Rows.REJECTED
                    + ">",
            bridgedTo = RowData.class))
public final class ContainerLatencies extends TableFunction<RowData> {
  private static final long serialVersionUID = 1L;

  private transient SampleAccumulator samples;
  private transient MessageReader reader;

  @Override
  public void open(FunctionContext context) {
    Settings settings = Settings.of(context);
    samples = new SampleAccumulator(settings.sampleWindowMs());
    reader = new MessageReader(settings.validity(), samples);
  }

  public void eval(
      byte[] message,
      @DataTypeHint(value = "TIMESTAMP_LTZ(3)", bridgedTo = TimestampData.class)
          TimestampData recordTime,
      boolean repeated) {
    long recordTimeMs = recordTime.getMillisecond();
    reader.read(message, recordTimeMs, repeated);
    samples.forEach((site, sample) -> collect(GenericRowData.of(row(site, sample), null, null)));
    Rows.emitAccounts(reader, recordTimeMs, this::collect);
  }

  private static GenericRowData row(Site site, Sample sample) {
    return GenericRowData.of(
        text(site.service()),
        text(site.instance()),
        text(site.host()),
        time(sample.windowMs()),
        sample.requests(),
        sample.errors(),
        sample.lnSum(),
        sample.lnSum2(),
        sample.latency().encode());
  }
}
