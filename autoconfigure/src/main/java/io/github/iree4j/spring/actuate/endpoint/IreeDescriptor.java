package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.spring.ProgramState;
import java.util.List;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What the {@code iree} endpoint answers without a selector.
 *
 * @param devices the runtime's devices, in the order in which programs see them
 * @param modules states of the programs' latest versions by name
 * @param task the workers
 * @param activeCalls calls under way
 * @param waitingOperations operations that are held back on all queues
 * @param selectors what can be asked for: {@code /actuator/iree/queues}
 */
public record IreeDescriptor(
        List<DeviceDescriptor> devices,
        Map<String, ProgramState> modules,
        TaskDescriptor task,
        int activeCalls,
        long waitingOperations,
        List<String> selectors)
        implements OperationResponseBody {}
