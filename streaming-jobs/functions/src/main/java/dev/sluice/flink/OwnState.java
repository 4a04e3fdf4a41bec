package dev.sluice.flink;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.runtime.state.StateInitializationContext;

/**
 * Bytes of one task in Flink's state: restored to the task that wrote them. With another
 * parallelism every task gets those of all tasks.
 */
final class OwnState {
  private static final int HEAD = 2 * Integer.BYTES;

  private final ListState<byte[]> state;
  private final int task;
  private final int tasks;

  OwnState(StateInitializationContext context, TaskInfo info, String name) throws Exception {
    state =
        context
            .getOperatorStateStore()
            .getUnionListState(
                new ListStateDescriptor<>(
                    name, PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
    task = info.getIndexOfThisSubtask();
    tasks = info.getNumberOfParallelSubtasks();
  }

  /** The restored bytes; none at a first start. */
  List<byte[]> restored() throws Exception {
    List<byte[]> mine = new ArrayList<>();
    for (byte[] element : state.get()) {
      ByteBuffer bytes = ByteBuffer.wrap(element);
      int ofTask = bytes.getInt();
      int ofTasks = bytes.getInt();
      if (ofTasks != tasks || ofTask == task) {
        byte[] content = new byte[bytes.remaining()];
        bytes.get(content);
        mine.add(content);
      }
    }
    return mine;
  }

  void update(byte[] content) throws Exception {
    byte[] bytes =
        ByteBuffer.allocate(HEAD + content.length).putInt(task).putInt(tasks).put(content).array();
    state.update(List.of(bytes));
  }
}
