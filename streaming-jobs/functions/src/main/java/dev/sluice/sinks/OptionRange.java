package dev.sluice.sinks;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.api.ValidationException;

/** Checks the values of a table's options. */
public final class OptionRange {
  private OptionRange() {}

  /**
   * @param legal the legal values, for people
   * @throws ValidationException with the option, its value and the legal values, unless {@code
   *     isLegal}
   */
  public static void check(boolean isLegal, ConfigOption<?> option, Object value, String legal) {
    if (!isLegal) {
      throw new ValidationException("'" + option.key() + "' is " + value + ": it must be " + legal);
    }
  }
}
